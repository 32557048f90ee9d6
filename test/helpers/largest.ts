const list = (count: number, item: (index: number) => string) =>
	Array.from({ length: count }, (_, index) => item(index)).join(',')

const megabyte = 2 ** 20
export const page = '<p>Dear {{ name }}, "quoted" & <b>bold</b></p>\n'
export const largeBody = page.repeat((megabyte * 0.9) / page.length)

/** 64 KB of custom data, in the form that takes longest to parse and to serialise. */
export const largeData = JSON.parse(`{${list(5800, (i) => `"k${i}":0`)}}`) as object

/** A body's largest possible content besides its schema's members: a megabyte in many members. */
export const junk = `{${list(19_000, (i) => `"a member that nobody has asked for ${i}":0`)}}`

export const largeCondition = {
	logic: 'OR',
	groups: Array.from({ length: 100 }, (_, index) => ({
		filters: [{ field: `data.k${index}`, operator: 'equals', value: 'x'.repeat(550) }],
	})),
}

export const addresses = (count: number) =>
	Array.from({ length: count }, (_, i) => `${'x'.repeat(60)}${i}@${'long.'.repeat(30)}example.org`)

export const largeStep = {
	type: 'WEBHOOK',
	name: 'S',
	config: {
		url: 'https://example.org/',
		body: Object.fromEntries(
			Array.from({ length: 500 }, (_, i) => [`k${i}`, '{{ a }}'.repeat(16)]),
		),
	},
}

export const csv = `email,a,b\n${list(90_000, (i) => `\n${i}@example.org;some;more words`).replaceAll(',', '')}`
