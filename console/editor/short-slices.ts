/**
 * CodeMirror parses a long text in the background, for up to 100 ms at a time where the browser can tell it that a key
 * was pressed. It would not draw meanwhile. Otherwise it keeps to the browser's idle time. It asks once, when it is
 * loaded, so this file is imported before it.
 */
Object.defineProperty(navigator, 'scheduling', { value: undefined, configurable: true })
