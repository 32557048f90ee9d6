import { useMemo } from 'react'
import { type Condition, TempostError } from '../../client/index.ts'
import { BuilderContext } from './builder-context.ts'
import { blankCondition, countFilters, filtersOf, maxFilters } from './condition.ts'
import { type FieldOption, useConditionFields, useSegmentNames } from './condition-fields.ts'
import { ConditionTree } from './condition-tree.tsx'
import styles from './conditions.module.css'

interface Props {
	/** Without one, a first filter can be chosen. */
	value: Condition | null | undefined
	/** While it is being built, a condition may be incomplete: see `isComplete`. */
	onChange: (value: Condition) => void
	/** In place of all fields of the project. */
	fields?: FieldOption[]
	/** Messages of the API are shown at their filters. */
	error?: unknown
	/** The condition in the words of the API's errors. */
	path?: string
}

/** A condition on contacts, which reads as a sentence. */
export function ConditionBuilder({
	value,
	onChange,
	fields: given,
	error,
	path = 'condition',
}: Props) {
	const all = useConditionFields()
	const names = useSegmentNames()
	const fields = given ?? all
	const condition = value ?? blankCondition
	const isFull = countFilters(condition) >= maxFilters
	const builder = useMemo(
		() => ({ fields, names, isFull, faultAt: (at: string) => faultAt(error, at) }),
		[fields, names, isFull, error],
	)
	const isBlank = [...filtersOf(condition)].every(({ field }) => field === '')
	return (
		<BuilderContext value={builder}>
			<div className={styles.builder} role="group" aria-label="Condition">
				<p className={styles.lead}>Contacts</p>
				<ConditionTree
					tree={condition}
					path={path}
					depth={1}
					onChange={onChange}
					onRemove={isBlank ? undefined : () => onChange(blankCondition)}
				/>
			</div>
		</BuilderContext>
	)
}

function faultAt(error: unknown, path: string) {
	if (!(error instanceof TempostError)) return undefined
	const found = error.fields.find(({ field }) => field === path || field.startsWith(`${path}.`))
	return found && `${field(found.field)} ${found.message}`
}

const field = (path: string) => path.slice(path.lastIndexOf('.') + 1)
