/** To two places; 0 of nothing. */
export const percentOf = (part: number, whole: number) =>
	whole === 0 ? 0 : Math.round((10_000 * part) / whole) / 100
