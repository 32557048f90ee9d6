/** With two decimal places; 0 if the whole is 0. */
export const percentOf = (part: number, whole: number) =>
	whole === 0 ? 0 : Math.round((10_000 * part) / whole) / 100
