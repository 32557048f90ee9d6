const copied = ' (Copy)'
/** The longest name, in characters as schemas count them. */
const maxLength = 100

/** The name of a copy. */
export const copyName = (name: string) =>
	`${Array.from(name)
		.slice(0, maxLength - copied.length)
		.join('')}${copied}`
