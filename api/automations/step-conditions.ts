import type { PoolClient } from 'pg'
import Type from 'typebox'
import {
	flatOperators,
	flatRoots,
	type StepType,
} from '../../db/automations/automation-definition.ts'
import type { Condition } from '../../db/conditions/condition.ts'
import { comparedProblems } from '../conditions/condition-filters.ts'
import { conditionProblems } from '../conditions/conditions.ts'
import type { FieldError } from '../errors.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { bodyFaults } from '../requests/validation.ts'
import { checkReferences } from '../segments/segment-conditions.ts'

// The configuration of a CONDITION step has three forms: one comparison with the branches yes and no;
// several comparisons of one field, each with its own branch; and a condition tree.

const closed = { additionalProperties: false }
const roots = flatRoots.join('|')
const FlatField = Type.String({
	maxLength: 500,
	description: `The field to compare. Starts with ${flatRoots.map((root) => `${root}.`).join(', ')}.`,
	pattern: `^(${roots})\\.[^\\r\\n]+$`,
	'x-message': `must start with ${flatRoots.map((root) => `${root}.`).join(', ')}`,
})
const comparison = {
	operator: Type.Enum([...flatOperators], { description: 'How the field is compared.' }),
	value: Type.Optional(
		Type.Unknown({
			description: 'What the field is compared with. Not needed for exists and notExists.',
		}),
	),
}

export const Flat = Type.Object({ field: FlatField, ...comparison }, closed)
export const Branched = Type.Object(
	{
		mode: Type.Literal('multi', { description: 'Several branches.' }),
		field: FlatField,
		branches: Type.Array(
			Type.Object(
				{
					id: Type.String({
						minLength: 1,
						maxLength: 100,
						description: 'The branch of the transition. `default` is taken when no branch matches.',
					}),
					name: Type.String({ minLength: 1, maxLength: 100, description: 'Shown in an editor.' }),
					...comparison,
				},
				closed,
			),
			{ minItems: 1, maxItems: 20, description: 'The first branch that matches is taken.' },
		),
	},
	closed,
)
type Flat = Type.Static<typeof Flat>
type Branched = Type.Static<typeof Branched>

const flatFaults = bodyFaults(Flat)
const branchedFaults = bodyFaults(Branched)

/** The problems, by the form that the configuration seems to have. */
export function stepConditionProblems(config: Record<string, unknown>, path: string): FieldError[] {
	if ('groups' in config || 'logic' in config) return conditionProblems(config, path)
	const isBranched = 'mode' in config
	const errors = fieldErrors((isBranched ? branchedFaults : flatFaults)(config))
	if (errors.length > 0)
		return errors.map((error) => ({ ...error, field: `${path}.${error.field}` }))
	return isBranched
		? branchProblems((config as Branched).branches, path)
		: valueProblems(config as Flat, path)
}

const valueProblems = ({ operator, value }: Pick<Flat, 'operator' | 'value'>, path: string) =>
	comparedProblems(operator, value, path)

function branchProblems(branches: Branched['branches'], path: string): FieldError[] {
	return branches.flatMap((branch, index) => {
		const at = `${path}.branches.${index}`
		const custom = (message: string): FieldError[] => [
			{ field: `${at}.id`, message, code: 'custom', received: branch.id },
		]
		if (branch.id === 'default') return custom('is reserved for the case that no branch matches')
		if (branches.findIndex(({ id }) => id === branch.id) < index)
			return custom('is also the id of another branch')
		return valueProblems(branch, at)
	})
}

/** Checks that the segments of a condition tree exist, and keeps them until the transaction ends. */
export async function checkStepSegments(
	db: PoolClient,
	projectId: string,
	type: StepType,
	config: object,
	path: string,
) {
	if (type === 'CONDITION' && 'groups' in config)
		await checkReferences(db, projectId, config as Condition, undefined, path)
}
