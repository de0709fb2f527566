// What must be known before the first paint: the theme, so that no page flashes. No module, so that nothing waits for it.
(() => {
  try {
    const theme = localStorage.getItem('toolgate.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // A browser that keeps nothing follows the system.
  }
})();
