import { Checkbox, Labelled, TextArea } from '../parts/field.tsx'
import styles from './event-choice.module.css'
import { allEvents, allTracked, families, trackedNames, trackedPrefix } from './event-types.ts'

interface Props {
	/** The field in the API's words. */
	name: string
	label: string
	/** The types and wildcards. */
	events: string[]
	onChange: (events: string[]) => void
	error?: unknown
}

/** Chooses among the types of events: one by one, all of a kind, or all. */
export function EventChoice({ name, label, events, onChange, error }: Props) {
	const has = (type: string) => events.includes(type)
	const isAll = has(allEvents)
	const toggle = (type: string) =>
		onChange(has(type) ? events.filter((one) => one !== type) : [...events, type])
	return (
		<Labelled name={name} label={label} error={error}>
			{({ id, 'aria-describedby': describedBy }) => (
				<div
					role="group"
					id={id}
					aria-label={label}
					aria-describedby={describedBy}
					className={styles.choice}
				>
					<Checkbox
						label="All events"
						hint="Also types that are added later"
						checked={isAll}
						onChange={() => toggle(allEvents)}
					/>
					{!isAll &&
						families.map((family) => (
							<Family key={family.wildcard} {...family} has={has} toggle={toggle} />
						))}
					{!isAll && <Tracked events={events} onChange={onChange} toggle={toggle} />}
				</div>
			)}
		</Labelled>
	)
}

type FamilyProps = (typeof families)[number] & {
	has: (type: string) => boolean
	toggle: (type: string) => void
}

const Family = ({ name, wildcard, types, has, toggle }: FamilyProps) => (
	<fieldset className={styles.family}>
		<legend>{name}</legend>
		<Checkbox
			label={`All of ${wildcard}`}
			checked={has(wildcard)}
			onChange={() => toggle(wildcard)}
		/>
		{!has(wildcard) && (
			<div className={styles.types}>
				{types.map(({ type, about }) => (
					<Checkbox
						key={type}
						label={type}
						hint={about}
						checked={has(type)}
						onChange={() => toggle(type)}
					/>
				))}
			</div>
		)}
	</fieldset>
)

function Tracked({
	events,
	onChange,
	toggle,
}: Pick<Props, 'events' | 'onChange'> & Pick<FamilyProps, 'toggle'>) {
	const others = events.filter((type) => !type.startsWith(trackedPrefix) || type === allTracked)
	return (
		<fieldset className={styles.family}>
			<legend>Events that you track</legend>
			<Checkbox
				label={`All of ${allTracked}`}
				checked={events.includes(allTracked)}
				onChange={() => toggle(allTracked)}
			/>
			{!events.includes(allTracked) && (
				<TextArea
					name="tracked"
					label="Names of tracked events"
					hint="One per line, such as signup"
					rows={2}
					defaultValue={trackedNames(events).join('\n')}
					onChange={({ target }) =>
						onChange([
							...others,
							...target.value
								.split('\n')
								.map((line) => line.trim())
								.filter(Boolean)
								.map((line) => trackedPrefix + line),
						])
					}
				/>
			)}
		</fieldset>
	)
}
