import { useState } from 'react'
import type { Filter } from '../../client/index.ts'
import field from '../parts/field.module.css'
import type { FieldType } from './condition-fields.ts'
import {
	familyOf,
	isComparing,
	isStating,
	isTimed,
	units,
	withAmount,
	withValue,
} from './condition.ts'
import { ValueInput } from './value-input.tsx'
import { canBe, type Kind, kindOf, kinds, kindsFor, turnedInto, usualKind } from './value-kinds.ts'

interface Props {
	filter: Filter
	type: FieldType | undefined
	onChange: (filter: Filter) => void
	isInvalid: boolean
}

/** The part after the operator: an amount of time, a value, or nothing. */
export function FilterValue(props: Props) {
	const { filter, onChange, isInvalid } = props
	const family = familyOf(filter.field)
	if (!family || isStating(filter.operator)) return null
	if (isTimed(filter.operator)) return <Amount {...props} />
	if (family === 'data' || family === 'date') return <KindedValue key={filter.field} {...props} />
	return (
		<ValueInput
			kind={family === 'subscribed' ? 'flag' : 'text'}
			value={filter.value}
			onChange={(value) => onChange(withValue(filter, value))}
			isInvalid={isInvalid}
		/>
	)
}

function Amount({ filter, onChange, isInvalid }: Props) {
	const amount = Number(filter.value)
	const unit = filter.unit ?? 'days'
	return (
		<>
			<ValueInput
				kind="number"
				value={amount === 0 ? undefined : amount}
				onChange={(value) => onChange(withAmount(filter, Number(value ?? 0), unit))}
				isInvalid={isInvalid}
			/>
			<select
				className={field.control}
				aria-label="Unit"
				value={unit}
				onChange={({ target }) => onChange(withAmount(filter, amount, target.value))}
			>
				{units.map((one) => (
					<option key={one}>{one}</option>
				))}
			</select>
		</>
	)
}

const kindsOfDates: Kind[] = ['day', 'moment']

/** A value whose kind can be chosen. */
function KindedValue({ filter, type, onChange, isInvalid }: Props) {
	const { field: about, operator, value } = filter
	const [chosen, setChosen] = useState<Kind>()
	const isData = familyOf(about) === 'data'
	const offered = isData ? kindsFor(operator) : kindsOfDates
	const usual = isData ? usualKind(type, operator) : 'day'
	const isKept = chosen && offered.includes(chosen) && canBe(chosen, value)
	const kind = isKept ? chosen : (kindOf(value) ?? usual)
	const set = (next: unknown) => onChange(withValue(filter, next))
	function choose(name: string) {
		const next = offered.find((one) => one === name)
		if (!next) return
		setChosen(next)
		set(turnedInto(next, value))
	}
	return (
		<>
			<ValueInput
				{...{ kind, value, isInvalid }}
				onChange={set}
				suggestsFor={isData && !isComparing(operator) ? about : undefined}
			/>
			{offered.length > 1 && (
				<select
					className={field.control}
					aria-label="Kind of value"
					data-size="kind"
					value={kind}
					onChange={({ target }) => choose(target.value)}
				>
					{offered.map((one) => (
						<option key={one} value={one}>
							{kinds[one]}
						</option>
					))}
				</select>
			)}
		</>
	)
}
