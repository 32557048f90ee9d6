import { X } from 'lucide-react'
import type { Filter } from '../../client/index.ts'
import { IconButton } from '../parts/button.tsx'
import field from '../parts/field.module.css'
import { changedFilter, familyOf, isComparing, type Operator, operatorsOf } from './condition.ts'
import { looksLikeTime, wordsOfField, wordsOfOperator } from './condition-words.ts'
import styles from './conditions.module.css'
import { useBuilder } from './builder-context.ts'
import type { FieldType } from './condition-fields.ts'
import { FieldPicker } from './field-picker.tsx'
import { FilterValue } from './filter-value.tsx'
import { kindOf } from './value-kinds.ts'

interface Props {
	filter: Filter
	/** Its place in the tree, in the words of the API's errors. */
	path: string
	/** Before it in the sentence. */
	word: string
	isNew: boolean
	onChange: (filter: Filter) => void
	onRemove: (() => void) | undefined
}

/** One filter as a part of a sentence: a field, an operator and a value. */
export function FilterLine({ filter, path, word, isNew, onChange, onRemove }: Props) {
	const { fields, names, faultAt } = useBuilder()
	const family = familyOf(filter.field)
	const type = fields.find((one) => one.field === filter.field)?.type
	const fault = faultAt(path)
	const isOfTime = type === 'date' || looksLikeTime(filter.value)
	const isInvalid = fault !== undefined
	return (
		<div className={styles.line} role="group" aria-label={`Filter on ${nameOf(filter)}`}>
			<span className={styles.word}>{word}</span>
			<div className={styles.controls}>
				<FieldPicker
					value={filter.field}
					{...{ fields, names, isInvalid }}
					isOpenAtFirst={isNew}
					onChange={(chosen) => onChange(startedWith(filter, chosen))}
				/>
				{family && (
					<select
						className={field.control}
						aria-label="Operator"
						value={filter.operator}
						onChange={({ target }) => {
							const operator = operatorsOf[family].find((one) => one === target.value)
							if (operator) onChange(changedFilter(filter, filter.field, operator))
						}}
					>
						{operatorsOf[family].map((operator) => (
							<option key={operator} value={operator}>
								{wordsOfOperator(filter.field, operator, isOfTime)}
							</option>
						))}
					</select>
				)}
				<FilterValue {...{ filter, type, onChange, isInvalid }} />
				{fault && <p className={styles.fault}>{fault}</p>}
				{family === 'data' && leavesOut.has(filter.operator) && (
					<p className={styles.hint}>Contacts without this field are not found.</p>
				)}
				{family === 'data' &&
					isComparing(filter.operator) &&
					comparesLetters(filter.value, type) && (
						<p className={styles.hint}>
							Texts are compared letter by letter: “9” is more than “10”. Imported columns are
							texts.
						</p>
					)}
			</div>
			{onRemove && (
				<IconButton name="Remove this filter" icon={<X size={15} />} onClick={onRemove} />
			)}
		</div>
	)
}

const leavesOut = new Set<Operator>(['notEquals', 'notContains'])

/** Whether the value is a text, or will be. */
const comparesLetters = (value: unknown, type: FieldType | undefined) =>
	(kindOf(value) ?? (type === 'string' ? 'text' : undefined)) === 'text'

const nameOf = ({ field: about }: Filter) => (about === '' ? 'a new field' : wordsOfField(about))

/** The operator stays if the new field has it. */
function startedWith(old: Filter, chosen: string) {
	const family = familyOf(chosen)
	if (!family) return old
	const offered = operatorsOf[family]
	return changedFilter(old, chosen, offered.find((one) => one === old.operator) ?? offered[0]!)
}
