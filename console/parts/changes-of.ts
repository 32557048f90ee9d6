/**
 * What a form changes in a record, compared with the record as it was opened. The rest is not sent, so what others
 * have changed meanwhile stays.
 */
export const changesOf = <T extends object>(
	opened: { [Key in keyof T]?: unknown },
	given: T,
): Partial<T> =>
	Object.fromEntries(
		Object.entries(given).filter(
			([key, value]) => JSON.stringify(value) !== JSON.stringify(opened[key as keyof T]),
		),
	) as Partial<T>
