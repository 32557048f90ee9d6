const mostCharacters = 60

/**
 * A user's chosen name, for a mail of ours to people who may not know them. It becomes one short line that
 * mail programs don't turn into a link and that can't reverse the text around it.
 */
export function plainName(name: string) {
	const line = name
		.replaceAll(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu, ' ')
		.replaceAll(/:(?=[/\\])/g, ': ')
		.replaceAll(/[/\\]{2,}/g, ' ')
		// Full stops of other scripts separate the labels of a host name, too.
		.replaceAll(/([.。．｡])(?=[^\s.。．｡])/g, '$1 ')
		.replaceAll(/\s+/g, ' ')
		.trim()
	const characters = [...new Intl.Segmenter().segment(line)].map(({ segment }) => segment)
	if (characters.length <= mostCharacters) return line
	return `${characters
		.slice(0, mostCharacters - 1)
		.join('')
		.trimEnd()}…`
}

const mostListed = 20

/** An account may have thousands of projects: the names that no mail lists stay as they are. */
export const plainNames = (names: string[]) =>
	names.map((name, place) => (place < mostListed ? plainName(name) : name))

/** As many names as fit into a mail, and the number of the rest. */
export function listed(names: string[]) {
	const shown = names.slice(0, mostListed).join(', ')
	return names.length > mostListed ? `${shown} (+${names.length - mostListed})` : shown
}
