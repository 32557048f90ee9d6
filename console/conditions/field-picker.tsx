import { Combobox } from '@base-ui/react/combobox'
import { ChevronsUpDown } from 'lucide-react'
import { useMemo, useState } from 'react'
import field from '../parts/field.module.css'
import menu from '../parts/menu.module.css'
import type { FieldOption } from './condition-fields.ts'
import { familyOf } from './condition.ts'
import { type Names, wordsOfField } from './condition-words.ts'
import styles from './conditions.module.css'

interface Props {
	value: string
	fields: FieldOption[]
	names: Names
	onChange: (field: string) => void
	/** Opens it at once: for a filter that was just added. */
	isOpenAtFirst: boolean
	isInvalid: boolean
}

// An interface would not be one of the groups that the list takes.
type Group = { value: string; items: FieldOption[] }

/** A longer list would be slow; typing a part of the name finds the others. */
const mostShown = 60

/** A field of the project by a part of its name; a name that no contact has yet can be typed. */
export function FieldPicker({ value, fields, names, onChange, isOpenAtFirst, isInvalid }: Props) {
	const [typed, setTyped] = useState('')
	const groups = useMemo(() => groupsFor(fields, typed.trim()), [fields, typed])
	const chosen = fields.find((one) => one.field === value) ?? null
	const name = value === '' ? 'choose a field' : (chosen?.name ?? wordsOfField(value, names))
	return (
		<Combobox.Root
			items={groups}
			filteredItems={groups}
			filter={null}
			value={chosen}
			onValueChange={(option) => option && onChange(option.field)}
			inputValue={typed}
			onInputValueChange={setTyped}
			itemToStringLabel={(option) => option.name}
			isItemEqualToValue={(one, other) => one.field === other.field}
			defaultOpen={isOpenAtFirst}
			autoHighlight
		>
			<Combobox.Trigger
				className={`${field.control} ${styles.picker}`}
				aria-label={`Field: ${name}`}
				aria-invalid={isInvalid}
				data-empty={value === ''}
			>
				<span>{name}</span>
				<ChevronsUpDown size={13} aria-hidden />
			</Combobox.Trigger>
			<Combobox.Portal>
				<Combobox.Positioner className={menu.place} align="start" sideOffset={4}>
					<Combobox.Popup className={`${menu.menu} ${styles.fields}`} aria-label="Fields">
						<Combobox.Input
							className={field.control}
							aria-label="Search fields"
							placeholder="Search, or type a new name"
						/>
						<Combobox.List className={styles.list}>
							{(group: Group) => <Fields key={group.value} group={group} />}
						</Combobox.List>
					</Combobox.Popup>
				</Combobox.Positioner>
			</Combobox.Portal>
		</Combobox.Root>
	)
}

const Fields = ({ group }: { group: Group }) => (
	<Combobox.Group items={group.items}>
		<Combobox.GroupLabel className={styles.heading}>{group.value}</Combobox.GroupLabel>
		<Combobox.Collection>
			{(option: FieldOption) => (
				<Combobox.Item
					key={option.field}
					value={option}
					className={`${menu.item} ${styles.option}`}
				>
					{option.name}
				</Combobox.Item>
			)}
		</Combobox.Collection>
	</Combobox.Group>
)

const order = ['Contact', 'Data', 'Events', 'Mails', 'Segments'] as const

function groupsFor(fields: FieldOption[], typed: string): Group[] {
	const wanted = typed.toLowerCase()
	const found = fields.filter(({ name }) => name.toLowerCase().includes(wanted)).slice(0, mostShown)
	const groups = order.map((value) => ({
		value,
		items: found.filter(({ group }) => group === value),
	}))
	const others = typed === '' ? [] : newFields(fields, typed)
	return [...groups, { value: 'Not seen yet', items: others }].filter(
		({ items }) => items.length > 0,
	)
}

/** Data and events that will have this name. */
function newFields(fields: FieldOption[], typed: string): FieldOption[] {
	const known = new Set(fields.map(({ field }) => field))
	const isWhole = familyOf(typed) === 'data' || familyOf(typed) === 'event'
	const candidates = isWhole ? [typed] : [`data.${typed}`, `event.${typed}`]
	return candidates
		.filter((one) => !known.has(one))
		.map((one) => {
			const isEvent = one.startsWith('event.')
			const name = isEvent ? wordsOfField(one) : `data ${wordsOfField(one)}`
			return { field: one, name, group: isEvent ? 'Events' : 'Data' }
		})
}
