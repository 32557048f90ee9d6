/**
 * CodeMirror parses a long text in the background, for up to 100 ms at a time where the browser can tell it that a key
 * was pressed. No frame is drawn meanwhile. Without that, it keeps to the browser's idle time. It looks once, when it is
 * loaded, so this file is imported before it.
 */
Object.defineProperty(navigator, 'scheduling', { value: undefined, configurable: true })
