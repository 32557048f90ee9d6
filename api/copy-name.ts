const copied = ' (Copy)'
/** Of a name, in characters as schemas count them. */
const maxLength = 100

/** What a copy is called. */
export const copyName = (name: string) =>
	`${Array.from(name)
		.slice(0, maxLength - copied.length)
		.join('')}${copied}`
