/** A value that may be anything, as a text. Empty: it is none. */
export const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
