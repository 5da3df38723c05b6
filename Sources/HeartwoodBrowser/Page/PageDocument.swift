/// The document of the page, and its icon.
enum PageDocument {
  static let text = #"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Heartwood</title>
    <link rel="icon" href="icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="page.css">
    <script src="page.js" defer></script>
    </head>
    <body>
    <header id="top">
    <button id="menu" class="plain" aria-label="Entities" aria-expanded="false">☰</button>
    <div id="store"></div>
    <nav id="views" aria-label="Views"></nav>
    <div id="state"></div>
    </header>
    <aside id="entities" aria-label="Entities"></aside>
    <main id="main" tabindex="-1"></main>
    <section id="object" aria-label="Object" tabindex="-1" hidden></section>
    <footer id="time" aria-label="Generations" hidden></footer>
    <div id="said" role="status" aria-live="polite"></div>
    <dialog id="help"></dialog>
    <noscript>This page needs JavaScript. It loads none from elsewhere.</noscript>
    </body>
    </html>
    """#

  static let icon = #"""
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#23533a"/><g fill="none" stroke="#dff0e4" stroke-width="2"><circle cx="16" cy="16" r="10.5"/><circle cx="15.4" cy="16.4" r="6.5"/><circle cx="15" cy="16.8" r="2.6" fill="#dff0e4"/></g></svg>
    """#
}
