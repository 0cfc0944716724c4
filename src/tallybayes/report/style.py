"""How the page looks: on screens of any width, and on paper.

System fonts, dark on light, one accent. Numbers stand to the right, in figures of one width. Tables
and pictures that are too wide scroll in their own box, so that the page itself never does. On paper
everything that is folded is open, nothing is cut by a box, wide tables break their words, and
pictures and lines stay whole. (Browsers before 2024 do not know `::details-content`: there, open
what is to be printed.)
"""

STYLE = """
:root {
  --ink: #1c2430; --quiet: #5a6573; --faint: #e3e7ec; --wash: #f6f8fa; --paper: #fff;
  --accent: #0b5c8a; --mind: #fff6e0; --mind-edge: #c98a00;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body {
  margin: 0; color: var(--ink); background: var(--paper);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans",
    Arial, sans-serif;
  overflow-wrap: break-word;
}
.skip { position: absolute; left: -100vw; top: 0; padding: .6rem 1rem; background: var(--paper);
  color: var(--accent); z-index: 2; }
.skip:focus { left: 0; }
.page { max-width: 1240px; margin: 0 auto; padding: 0 1.25rem 4rem; }
header { padding: 2.5rem 0 1.25rem; border-bottom: 1px solid var(--faint); }
header p { margin: .35rem 0 0; color: var(--quiet); }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; }
h1 { font-size: 2rem; font-weight: 650; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.45rem; font-weight: 650; margin: 0 0 1rem; }
h3 { font-size: 1.1rem; font-weight: 650; margin: 2.25rem 0 .6rem; }
h4 { font-size: 1rem; font-weight: 650; margin: 1.5rem 0 .4rem; }
a { color: var(--accent); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
p, ul, ol { max-width: 72ch; }
p { margin: .6rem 0; }
ul { padding-left: 1.3rem; }
li { margin: .25rem 0; }
nav ol { list-style: none; margin: 1.25rem 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: .2rem 1.1rem; max-width: none; font-size: .93rem; }
nav a { text-decoration: none; color: var(--quiet); display: inline-block; padding: .2rem 0; }
nav a:hover { color: var(--accent); text-decoration: underline; }
main > section { padding: 2.25rem 0 1rem; border-top: 1px solid var(--faint);
  scroll-margin-top: 1rem; }
main > section:first-child { border-top: 0; }
.lead { font-size: 1.12rem; max-width: 66ch; }
.note, small, figcaption, .quiet { color: var(--quiet); }
.note, figcaption { font-size: .9rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .8rem;
  margin: 1.4rem 0; }
.tile { background: var(--wash); border-radius: 8px; padding: .8rem 1rem; min-width: 0; }
.tile dt { color: var(--quiet); font-size: .9rem; }
.tile dd { margin: 0; }
.tile .large { display: block; font-size: 1.75rem; font-weight: 600; line-height: 1.3;
  color: var(--accent); font-variant-numeric: tabular-nums; }
.tile small { display: block; line-height: 1.4; }
.facts { margin: 1rem 0; }
.facts > div { display: grid; grid-template-columns: minmax(9rem, 14rem) 1fr; gap: .1rem 1.2rem;
  padding: .35rem 0; border-bottom: 1px solid var(--faint); }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; min-width: 0; }
.scroll { overflow-x: auto; margin: 1rem 0 1.4rem; max-width: 100%; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums;
  min-width: min(100%, 24rem); }
caption { text-align: left; font-weight: 600; padding-bottom: .45rem; caption-side: top; }
th, td { padding: .34rem .8rem; border-bottom: 1px solid var(--faint); vertical-align: top; }
tr > :first-child { padding-left: 0; }
tr > :last-child { padding-right: .2rem; }
thead th { color: var(--quiet); font-weight: 600; border-bottom: 2px solid var(--faint);
  vertical-align: bottom; white-space: nowrap; }
tbody th, tfoot th { font-weight: 500; }
tfoot th, tfoot td { font-weight: 600; border-top: 2px solid var(--faint); }
.word { text-align: left; min-width: 5rem; max-width: 26rem; }
.number { text-align: right; white-space: nowrap; }
td small { white-space: normal; }
.wide { min-width: 14rem; }
figure { margin: 1.2rem 0; min-width: 0; }
.picture { overflow-x: auto; }
.picture svg { display: block; max-width: max(100%, 40rem); height: auto; }
.pictures .picture svg { max-width: max(100%, 27rem); }
figcaption { margin-top: .4rem; max-width: 72ch; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  gap: .4rem 2rem; align-items: start; }
.warning { background: var(--mind); border-left: 4px solid var(--mind-edge); padding: .2rem 1rem;
  margin: .8rem 0; border-radius: 0 6px 6px 0; max-width: 76ch; }
details { border: 1px solid var(--faint); border-radius: 8px; margin: .8rem 0; }
summary { cursor: pointer; padding: .55rem .9rem; font-weight: 550; color: var(--accent); }
.inside { padding: .2rem .9rem .8rem; overflow-x: auto; }
pre { background: var(--wash); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto;
  font-size: .88rem; line-height: 1.5; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  font-size: .92em; overflow-wrap: anywhere; }
pre code { overflow-wrap: normal; font-size: 1em; }
math { font-size: 1.05em; }
article { border-left: 3px solid var(--faint); padding-left: 1.25rem; margin: 1.6rem 0 2.4rem; }
article h3 { margin-top: 0; }
footer { color: var(--quiet); font-size: .9rem; border-top: 1px solid var(--faint);
  padding-top: 1rem; }
@media (min-width: 1100px) {
  .columns { display: grid; grid-template-columns: 11.5rem minmax(0, 1fr); gap: 3rem; }
  nav { position: sticky; top: 0; align-self: start; padding-top: 2rem; }
  nav ol { flex-direction: column; gap: .15rem; margin: 0; }
  main > section:first-child { padding-top: 2rem; }
}
@media (max-width: 640px) {
  .page { padding: 0 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  header { padding-top: 1.5rem; }
  .facts > div { grid-template-columns: 1fr; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .6rem; }
  article { padding-left: .8rem; }
}
@media print {
  @page { margin: 16mm 14mm; }
  body { font-size: 10pt; line-height: 1.45; }
  .page { max-width: none; padding: 0; }
  .skip, nav { display: none; }
  .columns { display: block; }
  header { padding-top: 0; }
  main > section { padding: 1rem 0 .4rem; }
  h1, h2, h3, h4, summary, caption, thead { break-after: avoid; }
  figure, .tile, .warning, tr, pre { break-inside: avoid; }
  .pictures { grid-template-columns: 1fr 1fr; gap: 0 1rem; }
  .scroll, .inside, .picture, pre { overflow: visible; }
  pre { white-space: pre-wrap; }
  table { font-size: 8.5pt; }
  table { max-width: 100%; }
  th, td { padding: .2rem .5rem; }
  thead th, th, td, .number { white-space: normal; overflow-wrap: anywhere; }
  .word, .wide { min-width: 0; }
  math { font-size: .8em; }
  details { border: 0; }
  details::details-content { content-visibility: visible; height: auto; }
  details > summary { list-style: none; padding-left: 0; color: var(--ink); }
  .inside { padding-left: 0; }
  .picture svg, .pictures .picture svg { max-width: 100%; }
  a { color: inherit; text-decoration: none; }
}
"""
