/// How the page looks: light and dark, wide and narrow.
enum PageStyle {
  static let text = #"""
    :root {
      --paper: #fcfcfa; --panel: #f4f5f1; --raised: #ffffff; --ink: #1c2320; --soft: #5d6963; --faint: #8b958f;
      --line: #e3e6e0; --strong: #c8cec6; --accent: #23653f; --tint: #e6f1e9; --hover: #f0f3ee; --mark: #fff3cf;
      --red: #a6352b; --blue: #2a5b8c; --shadow: 0 6px 28px rgb(20 30 25 / 0.16);
      --sans: system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
      --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "Noto Sans Mono", "DejaVu Sans Mono", monospace;
      --top: 2.9rem; color-scheme: light dark;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #131715; --panel: #181d1a; --raised: #1e2421; --ink: #e3e8e4; --soft: #a0aca5; --faint: #6f7b74;
        --line: #28302b; --strong: #3b463f; --accent: #83cc9c; --tint: #1f3327; --hover: #1d2320; --mark: #43391a;
        --red: #ef8d83; --blue: #8dbbe9; --shadow: 0 6px 28px rgb(0 0 0 / 0.5);
      }
    }
    * { box-sizing: border-box; }
    html, body { height: 100%; margin: 0; }
    body {
      display: grid; grid-template: "top top top" auto "entities main object" minmax(0, 1fr) "time time time" auto / 13.5rem minmax(0, 1fr) auto;
      background: var(--paper); color: var(--ink); font: 13.5px/1.5 var(--sans); overflow: hidden;
    }
    a { color: var(--accent); text-decoration: none; }
    a:hover { text-decoration: underline; }
    code, kbd, pre, .condition { font-family: var(--mono); font-size: 0.92em; }
    h1, h2, h3 { margin: 0; font-weight: 600; line-height: 1.3; }
    h1 { font-size: 1.3rem; letter-spacing: -0.01em; }
    h2 { font-size: 1.15rem; overflow-wrap: anywhere; }
    h3 { margin: 1.1rem 0 0.35rem; font-size: 0.74rem; font-weight: 600; color: var(--faint); text-transform: uppercase; letter-spacing: 0.07em; }
    ul, ol { margin: 0; padding: 0; list-style: none; }
    button {
      border: 1px solid var(--strong); border-radius: 6px; background: var(--raised); color: inherit; font: inherit; padding: 0.1rem 0.6rem; cursor: pointer;
    }
    button:hover:not(:disabled) { background: var(--hover); }
    button:disabled { opacity: 0.35; cursor: default; }
    button.plain { border-color: transparent; background: none; color: var(--soft); }
    button.on, button[aria-pressed="true"] { background: var(--tint); border-color: var(--accent); color: var(--accent); }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 4px; }
    .scroll:focus-visible { outline: none; }
    main:focus { outline: none; }
    .faint { color: var(--faint); }
    .none { color: var(--faint); opacity: 0.75; }
    .space { flex: 1; }
    .error { color: var(--red); overflow-wrap: anywhere; }
    .empty { color: var(--faint); padding: 2rem 1rem; }
    bdi { unicode-bidi: isolate; }
    [hidden] { display: none !important; }

    #top { grid-area: top; display: flex; align-items: center; gap: 1.1rem; min-height: 2.9rem; padding: 0 0.9rem; border-bottom: 1px solid var(--line); background: var(--panel); }
    #menu { display: none; font-size: 1.05rem; }
    #store { min-width: 0; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
    #views { display: flex; align-self: stretch; gap: 0.2rem; flex: 1; }
    #views a { display: flex; align-items: center; padding: 0 0.65rem; color: var(--soft); border-bottom: 2px solid transparent; margin-bottom: -1px; }
    #views a:hover { color: var(--ink); text-decoration: none; }
    #views a[aria-current] { color: var(--ink); border-color: var(--accent); }
    #state { display: flex; align-items: center; gap: 0.55rem; white-space: nowrap; color: var(--soft); }
    #state .word { min-width: 0; max-width: 24rem; overflow: hidden; text-overflow: ellipsis; }
    .dot { flex: none; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--faint); }
    .dot.live { background: #3c9a62; box-shadow: 0 0 0 3px var(--tint); }
    .dot.past { background: #c28a1b; }
    .dot.lost { background: var(--red); }

    #entities { grid-area: entities; overflow: auto; padding: 0.6rem 0 1rem; border-right: 1px solid var(--line); background: var(--panel); }
    #entities a { display: flex; justify-content: space-between; gap: 0.6rem; padding: 0.17rem 0.9rem; color: var(--ink); }
    #entities a:hover { background: var(--hover); text-decoration: none; }
    #entities a[aria-current] { background: var(--tint); color: var(--accent); box-shadow: inset 2px 0 var(--accent); }
    #entities .name { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    #entities .count { color: var(--faint); font-variant-numeric: tabular-nums; }
    #entities .abstract .name { font-style: italic; }

    #main { grid-area: main; display: flex; flex-direction: column; min-width: 0; min-height: 0; }
    .heading { display: flex; align-items: baseline; gap: 0.7rem; padding: 0.75rem 1rem 0.3rem; min-width: 0; }
    .heading h1 { flex: none; max-width: 60%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .heading .total { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-variant-numeric: tabular-nums; }
    .chip { background: var(--tint); border-radius: 1rem; padding: 0.05rem 0.65rem; white-space: nowrap; }
    .downloads { display: flex; gap: 0.75rem; font-size: 0.85em; letter-spacing: 0.03em; }
    .where { padding: 0.15rem 1rem 0.4rem; }
    .where .line { display: flex; align-items: center; border: 1px solid var(--line); border-radius: 7px; background: var(--raised); }
    .where .line:focus-within { border-color: var(--accent); box-shadow: 0 0 0 2px var(--tint); }
    .where .slash { padding-left: 0.7rem; font-family: var(--mono); font-size: 0.85em; }
    .where .box { position: relative; flex: 1; min-width: 0; font-family: var(--mono); font-size: 12.4px; }
    .condition { width: 100%; border: 0; background: none; color: inherit; font-size: 12.4px; padding: 0.38rem 0.55rem; outline: none; }
    .condition::placeholder { color: var(--faint); opacity: 0.7; }
    .condition.wrong { text-decoration: underline wavy var(--red) 1px; text-underline-offset: 3px; text-decoration-skip-ink: none; }
    .caret { position: absolute; bottom: -0.55rem; color: var(--red); font-weight: bold; pointer-events: none; }
    .where .error { padding: 0.45rem 0.2rem 0; }
    #candidates { position: absolute; top: calc(100% + 3px); z-index: 20; min-width: 15rem; max-width: 90vw; max-height: 17rem; overflow: auto; padding: 0.25rem; border: 1px solid var(--strong); border-radius: 8px; background: var(--raised); box-shadow: var(--shadow); }
    #candidates li { display: flex; justify-content: space-between; gap: 1.4rem; padding: 0.16rem 0.55rem; border-radius: 5px; cursor: pointer; white-space: nowrap; }
    #candidates li:hover { background: var(--hover); }
    #candidates li[aria-selected="true"] { background: var(--tint); color: var(--accent); }
    .plan { padding: 0 1rem 0.45rem; font-size: 0.9em; color: var(--soft); }
    .plan summary { cursor: pointer; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .plan ol { padding: 0.2rem 0 0.2rem 1.1rem; font-family: var(--mono); font-size: 0.92em; list-style: decimal; overflow-wrap: anywhere; }
    .plan .advice { color: #a8730b; }
    .plan .act { list-style: none; font-family: var(--sans); }
    .plan .act button { color: var(--accent); padding-left: 0; }

    .scroll { flex: 1; min-height: 0; overflow: auto; border-top: 1px solid var(--line); }
    .padded { padding: 0.6rem 1rem 2rem; }
    .rows { border-collapse: separate; border-spacing: 0; min-width: 100%; }
    .rows th { position: sticky; top: 0; z-index: 2; background: var(--panel); border-bottom: 1px solid var(--line); text-align: left; font-weight: 500; color: var(--soft); white-space: nowrap; padding: 0; }
    .rows th button { border: 0; background: none; width: 100%; text-align: inherit; padding: 0.28rem 0.75rem; border-radius: 0; font-weight: 500; color: inherit; }
    .rows th .title { display: block; padding: 0.28rem 0.75rem; }
    .rows th[aria-sort$="ending"] { color: var(--accent); }
    .rows th.number { text-align: right; }
    .order { color: var(--faint); display: inline-block; }
    th[aria-sort$="ending"] .order { color: inherit; }
    .rows td { padding: 0.14rem 0.75rem; max-width: 21rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent); height: 1.76rem; }
    .rows td bdi { white-space: pre; }
    .rows tbody tr { cursor: default; }
    .rows tbody tr:hover td { background: var(--hover); }
    .rows tr.cursor td { background: var(--hover); }
    .rows tr.cursor td.id { box-shadow: inset 3px 0 var(--accent); }
    .rows tr.open td, .scroll:focus-visible .rows tr.cursor td { background: var(--tint); }
    .rows td.id, .rows th.id { position: sticky; left: 0; z-index: 1; background: var(--paper); }
    .rows th.id { z-index: 3; background: var(--panel); }
    .rows td.id { font-family: var(--mono); font-size: 0.9em; }
    .rows td.number { text-align: right; font-variant-numeric: tabular-nums; }
    .rows tbody tr td.differs, .rows tbody tr.gone td { background: var(--mark); }
    .rows tr.gone td.id a { text-decoration: line-through; }
    .rows td.fresh, .rows tr.fresh td { animation: fresh 2.4s ease-out; }
    @keyframes fresh { from { background: color-mix(in srgb, var(--accent) 34%, transparent); } }
    @media (prefers-reduced-motion: reduce) { .rows td.fresh, .rows tr.fresh td { animation: none; } }
    .stale { opacity: 0.45; }
    .group { margin-left: 0.17em; }
    time { font-variant-numeric: tabular-nums; }
    .true { color: var(--accent); }
    .false { color: var(--soft); }
    .blank { white-space: pre; background: radial-gradient(circle, var(--faint) 1px, transparent 1.4px) center / 100% 100% no-repeat; }
    .blank.many { background-size: 0.3em 100%; background-repeat: repeat-x; }
    .control { color: var(--faint); font-size: 0.72em; border: 1px solid var(--line); border-radius: 3px; padding: 0 2px; margin: 0 1px; }
    .thumb { height: 1.35rem; max-width: 4rem; object-fit: contain; vertical-align: middle; border-radius: 3px; background: repeating-conic-gradient(var(--line) 0 25%, transparent 0 50%) 0 0 / 8px 8px; }
    .reference .id { font-family: var(--mono); font-size: 0.86em; }
    .pager { display: flex; align-items: center; gap: 0.4rem; padding: 0.4rem 1rem; border-top: 1px solid var(--line); font-variant-numeric: tabular-nums; }
    .pager button { min-width: 1.9rem; padding: 0.05rem 0.4rem; }
    .pager input { width: 4.2rem; border: 1px solid var(--line); border-radius: 6px; background: var(--raised); color: inherit; font: inherit; text-align: right; padding: 0.05rem 0.4rem; }
    .padded .pager { border: 0; padding: 0.6rem 0; }
    .range { padding-left: 0.5rem; }

    #object { grid-area: object; width: min(30rem, 42vw); overflow: auto; padding: 0 1rem 2rem; border-left: 1px solid var(--line); background: var(--raised); }
    #object .head { position: sticky; top: 0; z-index: 3; display: flex; align-items: flex-start; gap: 0.5rem; padding: 0.75rem 0 0.6rem; background: var(--raised); }
    #object .close { font-size: 1.2rem; line-height: 1.2; }
    .values { display: grid; grid-template-columns: minmax(5rem, max-content) minmax(0, 1fr); margin: 0; }
    .values dt, .values dd { margin: 0; padding: 0.22rem 0; border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
    .values dt { color: var(--soft); padding-right: 1.1rem; max-width: 12rem; overflow-wrap: anywhere; }
    .values dd { overflow: clip; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
    .values.inner { border-left: 2px solid var(--line); padding-left: 0.6rem; }
    .text { white-space: pre-wrap; max-height: 18rem; overflow: auto; }
    .json { margin: 0; white-space: pre-wrap; max-height: 22rem; overflow: auto; padding: 0.4rem 0.6rem; border-radius: 6px; background: var(--panel); line-height: 1.45; }
    .json .key { color: var(--accent); }
    .json .number { color: var(--blue); }
    .picture { display: block; max-width: 100%; max-height: 18rem; border-radius: 6px; background: repeating-conic-gradient(var(--line) 0 25%, transparent 0 50%) 0 0 / 14px 14px; }
    .save { white-space: nowrap; text-decoration: underline; }
    .many { border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent); padding: 0.22rem 0; }
    .many summary { cursor: pointer; }
    .many.zero { padding-left: 1rem; color: var(--faint); }
    .many.zero b { font-weight: 400; }
    .related, .referrers { padding: 0.25rem 0 0.4rem 1rem; }
    .related li { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding: 0.08rem 0; }
    .related .rest { padding-left: 0.4rem; }
    .related .more { color: var(--accent); padding-left: 0; }
    .related .all { font-size: 0.9em; margin-left: 0.6rem; }
    .uri { font-family: var(--mono); font-size: 0.78em; overflow-wrap: anywhere; margin-top: 1.5rem; }

    .history > li { border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent); }
    .history summary { display: grid; grid-template-columns: 4.5rem 10.5rem minmax(3rem, 9rem) minmax(0, 1fr); gap: 0.8rem; padding: 0.32rem 0.2rem; cursor: pointer; list-style: none; }
    .history summary:hover { background: var(--hover); }
    .stamp { color: var(--accent); text-align: right; }
    .author { color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .changes { padding: 0.1rem 0 0.8rem 5.3rem; }
    .changes li, .box li { padding: 0.08rem 0; overflow-wrap: anywhere; }
    .acts { margin: 0.3rem 0 0.6rem; }
    .mark { display: inline-block; width: 1.1rem; font-family: var(--mono); font-weight: 700; }
    .mark.insert { color: #2c8a52; }
    .mark.update { color: #b07d12; }
    .mark.delete { color: var(--red); }
    .differences .lines { padding: 0 0 0.35rem 1.1rem; }
    del { color: var(--red); text-decoration-thickness: 1px; }
    ins { color: #2c8a52; text-decoration: none; }
    .drawing { position: relative; width: max-content; }
    .drawing img { display: block; max-width: none; border-radius: 8px; }
    .drawing a { position: absolute; border-radius: 7px; }
    .drawing a:hover, .drawing a:focus-visible { outline: 2px solid #23653f; background: rgb(35 101 63 / 0.08); }
    @media (prefers-color-scheme: dark) { .drawing img { filter: invert(0.9) hue-rotate(180deg); } .mark.insert, ins { color: #6cc790; } }

    #time { grid-area: time; position: relative; display: flex; align-items: center; gap: 0.5rem; padding: 0.5rem 0.9rem; border-top: 1px solid var(--line); background: var(--panel); }
    #time input { flex: 1; min-width: 5rem; accent-color: var(--accent); }
    #time .moment { min-width: 21rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
    #time .box { position: absolute; right: 0.9rem; bottom: calc(100% + 0.4rem); z-index: 30; width: min(36rem, calc(100vw - 1.8rem)); max-height: 58vh; overflow: auto; padding: 0.6rem 0.9rem; border: 1px solid var(--strong); border-radius: 9px; background: var(--raised); box-shadow: var(--shadow); }
    #time .box .head { display: flex; gap: 0.5rem; }
    #said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    dialog { border: 1px solid var(--strong); border-radius: 10px; background: var(--raised); color: inherit; box-shadow: var(--shadow); padding: 1.1rem 1.5rem; max-width: 34rem; }
    dialog::backdrop { background: rgb(10 15 12 / 0.35); }
    dialog dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1.3rem; margin: 0.8rem 0; }
    dialog dd { margin: 0; }
    kbd { border: 1px solid var(--strong); border-bottom-width: 2px; border-radius: 4px; padding: 0 0.4rem; margin-right: 0.25rem; background: var(--panel); }
    .lost main, .lost #entities, .lost #object, .gone main, .gone #entities, .gone #object { opacity: 0.55; }

    @media (max-width: 1000px) {
      body { grid-template-columns: 11rem minmax(0, 1fr) 0; }
      #object { position: fixed; inset: var(--top) 0 0 auto; z-index: 40; width: min(30rem, 92vw); box-shadow: var(--shadow); }
      #time .moment { min-width: 15rem; }
    }
    @media (max-width: 640px) {
      body { grid-template: "top" auto "main" minmax(0, 1fr) "time" auto / minmax(0, 1fr); font-size: 14px; }
      :root { --top: 5.1rem; }
      #top { flex-wrap: wrap; gap: 0 0.5rem; padding: 0 0.6rem; height: var(--top); }
      #menu { display: block; padding: 0.1rem 0.4rem; }
      #store { flex: 1; }
      #state, #store, #menu { height: 2.7rem; display: flex; align-items: center; }
      #store { gap: 0.35rem; }
      #views { order: 9; flex-basis: 100%; height: 2.4rem; }
      #views a { flex: 1; justify-content: center; }
      #entities { position: fixed; inset: var(--top) auto 0 0; z-index: 50; width: min(17rem, 82vw); box-shadow: var(--shadow); transform: translateX(-110%); visibility: hidden; transition: transform 0.16s; }
      .withEntities #entities { transform: none; visibility: visible; }
      #entities a { padding-top: 0.4rem; padding-bottom: 0.4rem; }
      #object { inset: var(--top) 0 0 0; width: auto; border: 0; box-shadow: none; }
      .heading { padding: 0.6rem 0.7rem 0.2rem; }
      .heading .space { display: none; }
      .heading .downloads { margin-left: auto; }
      .where, .plan { padding-left: 0.7rem; padding-right: 0.7rem; }
      .where .slash { display: none; }
      .condition { font-size: 16px; }
      .caret { font-size: 16px; }
      .rows td { max-width: 13rem; }
      .pager { padding: 0.45rem 0.7rem; }
      .pager button { min-height: 2rem; min-width: 2.2rem; }
      .padded { padding: 0.4rem 0.7rem 2rem; }
      .history summary { grid-template-columns: 3rem 1fr; gap: 0 0.6rem; }
      .history summary > :nth-child(n + 3) { grid-column: 2; }
      .changes { padding-left: 0.6rem; }
      .pager { white-space: nowrap; }
      .pager .range { display: none; }
      #time { display: grid; grid-template-columns: auto 1fr auto auto; gap: 0.4rem; }
      #time > :nth-child(7) { grid-area: 1 / 4; }
      #time .moment { grid-area: 2 / 1 / 3 / 5; min-width: 0; overflow: hidden; text-overflow: ellipsis; }
      #time .changed { grid-area: 3 / 1 / 4 / 3; }
      #time .now { grid-area: 3 / 3 / 4 / 5; }
    }
    """#
}
