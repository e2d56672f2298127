"""The style sheet of the HTML report: light and dark, readable on a phone and on paper."""

from __future__ import annotations

STYLE = """
:root{--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d0d7de;--box:#f6f8fa;--good:#0a6e31;--bad:#b3261e;--hint:#7a4b00}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9198a1;--line:#30363d;--box:#161b22;
--good:#56d364;--bad:#ff7b72;--hint:#e3b341}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:66rem;padding:1.2rem;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.35rem;line-height:1.3;margin:.2rem 0 .6rem}
h2{font-size:1.05rem;margin:1.6rem 0 .4rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
h3{font-size:1rem;margin:1rem 0 .2rem}
code,pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.5rem .7rem;margin:.3rem 0;
white-space:pre-wrap;overflow-wrap:anywhere;max-height:22rem;overflow:auto}
h4{font-size:.95rem;margin:.9rem 0 .2rem}
.cause p{margin:.5rem 0 .2rem}
ul.do{margin:.2rem 0;padding-left:1.2rem}ul.do li{margin:.5rem 0}
pre.type{padding:.25rem .6rem;margin:.25rem 0}
table{border-collapse:collapse;width:100%;margin:.3rem 0}
th,td{text-align:left;vertical-align:top;padding:.2rem .5rem;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}
td.sign{width:1.6rem;font-weight:700;text-align:center;font-family:ui-monospace,monospace}
.wide{overflow-x:auto}
.soft{color:var(--soft)}.cause .soft code{color:var(--fg)}
.s-bad{color:var(--bad)}.s-good{color:var(--good)}.s-hint{color:var(--hint)}.s-same{color:var(--soft)}
.cause{border:1px solid var(--line);border-left:4px solid var(--hint);border-radius:6px;
padding:.3rem .9rem .6rem;margin:.7rem 0}
.cause:first-of-type{border-left-color:var(--bad)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;margin:.4rem 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--soft)}
svg{width:100%;height:auto;max-width:760px;display:block;margin:.4rem 0}
svg text{fill:var(--fg);font:11px system-ui,sans-serif}
svg .small{font-size:10px}svg .end{text-anchor:end}svg .mid{text-anchor:middle}
svg path{fill:none;stroke-width:1.6}svg .grid{stroke:var(--line);stroke-width:1}
svg path.good{stroke:var(--good)}svg path.bad{stroke:var(--bad)}
svg rect.good{fill:var(--good)}svg rect.bad{fill:var(--bad)}
svg path.band{stroke:none;opacity:.16}svg path.band.good{fill:var(--good)}svg path.band.bad{fill:var(--bad)}
@media(max-width:560px){body{padding:.7rem}.cause{padding:.2rem .6rem .5rem}
dl{grid-template-columns:1fr;gap:0}
dd{margin:0 0 .4rem}td,th{padding:.2rem .3rem}}
@media print{body{max-width:none}pre{max-height:none}}
"""
