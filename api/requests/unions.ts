/** One complaint of Ajv's, in its verbose form. */
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
 * A union complains for each of its branches and then once more for itself. Of these the branch that
 * was meant stays: the only one that takes a value of this JSON type, whose literals match, or whose
 * members are all there and no others. Where none or several could have been meant, the union's own
 * complaint stays.
 */
export function withoutUnions(failures: Failure[]) {
	const kept: Failure[] = []
	for (const failure of failures) {
		if (failure.keyword !== 'anyOf' && failure.keyword !== 'oneOf') {
			kept.push(failure)
			continue
		}
		const inside: Failure[] = []
		while (kept.length > 0 && isInside(kept.at(-1)!, failure)) inside.push(kept.pop()!)
		for (const one of meant(failure, branchesOf(failure, inside.reverse()))) kept.push(one)
	}
	return kept.filter(({ keyword }) => keyword !== 'if')
}

const isInside = (inner: Failure, union: Failure) =>
	(inner.instancePath === union.instancePath ||
		inner.instancePath.startsWith(`${union.instancePath}/`)) &&
	(inner.schemaPath.startsWith(`${union.schemaPath}/`) || !inner.schemaPath.startsWith('#/prop'))

/** Complaints in the order of the branches: a new one begins where the schema's index changes. */
function branchesOf(union: Failure, inside: Failure[]) {
	const branches = new Map<string, Failure[]>()
	for (const failure of inside) {
		const rest = failure.schemaPath.slice(union.schemaPath.length + 1)
		const isInline = failure.schemaPath.startsWith(`${union.schemaPath}/`)
		const branch = isInline ? rest.split('/', 1)[0]! : failure.schemaPath.split('/')[2]!
		const found = branches.get(branch)
		if (found) found.push(failure)
		else branches.set(branch, [failure])
	}
	return [...branches.values()]
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
