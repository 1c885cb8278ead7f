// Runs before the first paint, so that neither the theme nor the rail's width flashes.
(() => {
  const root = document.documentElement;
  root.dataset.js = "";
  try {
    const theme = localStorage.getItem("qm.theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    if (localStorage.getItem("qm.rail") === "narrow") root.dataset.rail = "narrow";
  } catch {
    // Storage is blocked: the system's theme and the wide rail are right.
  }
})();
