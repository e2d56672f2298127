"""Reads published SGLang packages by syntax tree and packs facts about them. Never imports SGLang.

What is kept are names, values, spans and hashes; no sentence and no code of SGLang.
"""
