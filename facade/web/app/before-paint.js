// What must be known before the first paint: the theme, so that no page flashes, and whether this browser was signed in,
// so that the frame may stand before it is asked. No module, so that nothing waits for it.
(() => {
  try {
    const theme = localStorage.getItem('toolgate.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    if (localStorage.getItem('toolgate.in') === 'yes') document.documentElement.dataset.in = '';
  } catch {
    // A browser that keeps nothing follows the system.
  }
})();
