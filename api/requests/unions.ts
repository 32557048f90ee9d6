/** One error of Ajv, in its verbose form. */
export interface Failure {
	instancePath: string
	schemaPath: string
	keyword: string
	params: Partial<{
		type: string | string[]
		limit: number
		format: string
		missingProperty: string
		additionalProperty: string
		unevaluatedProperty: string
		propertyName: string
		allowedValue: unknown
		allowedValues: unknown[]
	}>
	data?: unknown
	parentSchema?: { 'x-message'?: string; 'x-resource'?: string; properties?: object }
}

/**
 * For a union Ajv reports errors for each branch and one for the union. Of these, the errors of the
 * intended branch stay: the only branch that accepts a value of this JSON type, whose literals match, or
 * whose members are exactly those given. If no branch or several qualify, the union's own error stays.
 */
export function withoutUnions(failures: Failure[]) {
	const kept: Failure[] = []
	for (const failure of failures) {
		if (failure.keyword !== 'anyOf' && failure.keyword !== 'oneOf') {
			kept.push(failure)
			continue
		}
		const isInside = insideOf(failure)
		const inside: Failure[] = []
		while (kept.length > 0 && isInside(kept.at(-1)!)) inside.push(kept.pop()!)
		for (const one of meant(failure, branchesOf(failure, inside.reverse()))) kept.push(one)
	}
	return kept.filter(({ keyword }) => keyword !== 'if')
}

function insideOf(union: Failure) {
	const [below, branches] = [`${union.instancePath}/`, `${union.schemaPath}/`]
	return ({ instancePath, schemaPath }: Failure) =>
		(instancePath === union.instancePath || instancePath.startsWith(below)) &&
		(schemaPath.startsWith(branches) || !schemaPath.startsWith('#/prop'))
}

/** Errors in the order of the branches: a new branch starts where the schema's index changes. */
function branchesOf(union: Failure, inside: Failure[]) {
	const branches = new Map<string, Failure[]>()
	const prefix = `${union.schemaPath}/`
	for (const failure of inside) {
		const { schemaPath } = failure
		const isInline = schemaPath.startsWith(prefix)
		const branch = isInline ? segment(schemaPath, prefix.length) : schemaPath.split('/')[2]!
		const found = branches.get(branch)
		if (found) found.push(failure)
		else branches.set(branch, [failure])
	}
	return [...branches.values()]
}

/** Up to the next slash. */
function segment(path: string, from: number) {
	const end = path.indexOf('/', from)
	return path.slice(from, end < 0 ? undefined : end)
}

function meant(union: Failure, branches: Failure[][]): Failure[] {
	const atTop = (failure: Failure) => failure.instancePath === union.instancePath
	const isOfType = (failure: Failure) => atTop(failure) && failure.params.type !== undefined
	const fits = branches.filter((branch) => !branch.some(isOfType))
	const literals = fits.flatMap((branch) => branch.filter(atTop).filter(isLiteral))
	if (fits.length > 0 && literals.length === fits.length)
		return [{ ...union, keyword: 'enum', params: { allowedValues: literals.flatMap(allowed) } }]
	if (fits.length === 0) {
		const type = branches
			.flat()
			.filter(isOfType)
			.flatMap(({ params }) => params.type ?? [])
		const isNullable = type.length === 2 && type.includes('null')
		return [{ ...union, keyword: isNullable ? 'type' : 'union', params: { type } }]
	}
	const choices = [
		fits,
		fits.filter((branch) => !branch.some(isLiteral)),
		fits.filter((branch) => !branch.some(atTop)),
	]
	const named = choices.find(({ length }) => length === 1)
	return named?.[0] ?? [{ ...union, keyword: 'union', params: {} }]
}

const isLiteral = ({ keyword }: Failure) => keyword === 'const' || keyword === 'enum'
export const allowed = ({ params }: Failure) => params.allowedValues ?? [params.allowedValue]
