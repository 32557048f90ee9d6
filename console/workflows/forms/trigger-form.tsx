import { Checkbox, Select, TextField } from '../../parts/field.tsx'
import { textOf } from '../../parts/text-of.ts'
import type { Graph } from '../graph.ts'
import { useSegments } from '../workflow-queries.ts'
import { EventNameField } from './event-name-field.tsx'
import { withoutEmpty } from './form-props.ts'

const types = [
	{ value: 'EVENT', name: 'An event of the contact' },
	{ value: 'SCHEDULE', name: 'A schedule' },
	{ value: 'MANUAL', name: 'By hand or by the API' },
] as const

interface Props {
	graph: Graph
	onChange: (graph: Graph, group?: string) => void
	error: unknown
}

export function TriggerForm({ graph, onChange, error }: Props) {
	const { type, config } = graph.trigger
	const setConfig = (changes: Record<string, unknown>, group?: string) =>
		onChange(
			{ ...graph, trigger: { type, config: withoutEmpty({ ...config, ...changes }) } },
			group,
		)
	return (
		<>
			<Select
				name="triggerType"
				label="Starts by"
				options={types}
				value={type}
				onChange={({ target }) => {
					const chosen = types.find(({ value }) => value === target.value)
					if (chosen) onChange({ ...graph, trigger: { type: chosen.value, config: {} } })
				}}
			/>
			{type === 'EVENT' && (
				<EventNameField
					label="Event"
					field="triggerConfig.eventName"
					value={textOf(config['eventName'])}
					hint="The name that your application tracks"
					error={error}
					onChange={(eventName) => setConfig({ eventName }, 'eventName')}
				/>
			)}
			{type === 'SCHEDULE' && <ScheduleFields config={config} set={setConfig} error={error} />}
			<Checkbox
				label="A contact may enter again"
				hint="After their earlier execution has ended"
				checked={graph.allowReentry}
				onChange={({ target }) => onChange({ ...graph, allowReentry: target.checked })}
			/>
		</>
	)
}

interface ScheduleProps {
	config: Record<string, unknown>
	set: (changes: Record<string, unknown>, group?: string) => void
	error: unknown
}

function ScheduleFields({ config, set, error }: ScheduleProps) {
	const { data: segments = [] } = useSegments()
	return (
		<>
			<TextField
				name="triggerConfig.schedule"
				label="Schedule"
				placeholder="0 9 * * 1"
				hint="A cron expression: minute, hour, day of month, month, day of week"
				value={textOf(config['schedule'])}
				error={error}
				onChange={({ target }) => set({ schedule: target.value }, 'schedule')}
			/>
			<TextField
				name="triggerConfig.timezone"
				label="Time zone"
				placeholder="UTC"
				list="time-zones"
				value={textOf(config['timezone'])}
				error={error}
				onChange={({ target }) => set({ timezone: target.value }, 'timezone')}
			/>
			<datalist id="time-zones">
				{Intl.supportedValuesOf('timeZone').map((zone) => (
					<option key={zone} value={zone} />
				))}
			</datalist>
			<Select
				name="triggerConfig.segmentId"
				label="For"
				options={[
					{ value: '', name: 'All contacts' },
					...segments.map(({ id, name }) => ({ value: id, name: `The segment “${name}”` })),
				]}
				value={textOf(config['segmentId'])}
				error={error}
				onChange={({ target }) => set({ segmentId: target.value })}
			/>
		</>
	)
}
