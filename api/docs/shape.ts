/** JSON Schema for the document alone. */
export type Shape = Record<string, unknown>

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

export const object = (
	properties: Record<string, unknown>,
	required: string[] = [],
	more: Shape = {},
): Shape => ({
	type: 'object',
	properties,
	...(required.length > 0 && { required }),
	...more,
})

/** One of several components, distinguished by the value of one member. */
export const union = (
	propertyName: string,
	names: Record<string, string>,
	description: string,
) => ({
	description,
	oneOf: [...new Set(Object.values(names))].map(ref),
	discriminator: {
		propertyName,
		mapping: Object.fromEntries(
			Object.entries(names).map(([value, name]) => [value, ref(name).$ref]),
		),
	},
})
