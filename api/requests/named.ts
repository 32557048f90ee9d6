interface Schema {
	type?: string | string[]
	properties?: Record<string, Schema>
	patternProperties?: Record<string, Schema>
	additionalProperties?: boolean | Schema
	items?: Schema | Schema[]
	anyOf?: Schema[]
	oneOf?: Schema[]
	allOf?: Schema[]
}

/** Whether a schema declares the member at a path. A schema without members declares all of them. */
export function isNamed(given: unknown, path: string[]): boolean {
	const schema = given as Schema | undefined
	const [name, ...rest] = path
	if (schema === undefined || name === undefined) return true
	const branches = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((some) => some ?? [])
	if (branches.some((branch) => isNamed(branch, path))) return true
	const { properties, patternProperties, additionalProperties, items } = schema
	if (!properties && !patternProperties && !additionalProperties && !items)
		return branches.length === 0 && canHaveMembers(schema)
	const named = [
		properties && Object.hasOwn(properties, name) ? properties[name] : undefined,
		...Object.values(patternProperties ?? {}),
		additionalProperties === true ? {} : additionalProperties || undefined,
		...(/^\d+$/.test(name) ? [items].flat() : []),
	]
	return named.some((some) => some !== undefined && isNamed(some, rest))
}

const canHaveMembers = ({ type }: Schema) =>
	type === undefined || type.includes('object') || type.includes('array')
