import { useMemo, useState } from 'react'
import type { Condition, Segment } from '../../client/index.ts'
import { blankCondition, isComplete } from '../conditions/condition.ts'
import { ConditionBuilder } from '../conditions/condition-builder.tsx'
import { useConditionFields } from '../conditions/condition-fields.ts'
import { ConditionPreview } from '../conditions/condition-preview.tsx'
import { Checkbox, Select, TextArea, TextField } from '../parts/field.tsx'
import { Form, type FormValues } from '../parts/form.tsx'
import { kinds } from './segment-filters.ts'
import styles from './segment-form.module.css'

export interface SegmentInput {
	name: string
	description: string | null
	type: Segment['type']
	condition?: Condition
	trackMembership: boolean
}

interface Props {
	/** The one that is edited. */
	segment?: Segment
	/** To begin with. */
	condition?: Condition
	act: string
	isBusy: boolean
	error: unknown
	onSubmit: (input: SegmentInput) => void
	cancel: () => void
}

export function SegmentForm(props: Props) {
	const { segment, act, isBusy, error, onSubmit, cancel } = props
	const [type, setType] = useState<Segment['type']>(segment?.type ?? 'DYNAMIC')
	const [condition, setCondition] = useState(
		segment?.condition ?? props.condition ?? blankCondition,
	)
	const isDynamic = type === 'DYNAMIC'
	const [isTried, setTried] = useState(false)
	const isReady = !isDynamic || isComplete(condition)
	function submit(values: FormValues) {
		setTried(true)
		if (!isReady) return
		onSubmit({
			name: values.text('name'),
			description: values.optional('description') ?? null,
			type,
			...(isDynamic && { condition }),
			trackMembership: values.isChecked('trackMembership'),
		})
	}
	return (
		<div className={styles.columns}>
			<Form
				act={act}
				onSubmit={submit}
				isBusy={isBusy}
				error={isTried && !isReady ? incomplete : error}
				cancel={cancel}
				isLong
			>
				<TextField name="name" label="Name" defaultValue={segment?.name} error={error} autoFocus />
				<TextArea
					name="description"
					label="Note"
					rows={2}
					defaultValue={segment?.description ?? ''}
					error={error}
				/>
				{!segment && (
					<Select
						name="type"
						label="Its contacts are chosen"
						hint={aboutKinds[type]}
						value={type}
						options={kinds}
						onChange={({ target }) => setType(target.value === 'STATIC' ? 'STATIC' : 'DYNAMIC')}
					/>
				)}
				{isDynamic && <Chosen {...{ segment, condition, setCondition, error }} />}
				<Checkbox
					name="trackMembership"
					label="Emit an event when a contact enters or leaves"
					hint="Workflows can start with these events. Members are computed every five minutes."
					defaultChecked={segment?.trackMembership ?? false}
				/>
			</Form>
			{isDynamic && <ConditionPreview condition={condition} isBelow />}
		</div>
	)
}

const incomplete = new Error('Complete the condition first: a filter has no field or no value')

const aboutKinds: Record<Segment['type'], string> = {
	DYNAMIC: 'It always contains the contacts that meet the condition. You can’t change this later.',
	STATIC: 'You add and remove its contacts. You can’t change this later.',
}

function Chosen({
	segment,
	condition,
	setCondition,
	error,
}: {
	segment: Segment | undefined
	condition: Condition
	setCondition: (condition: Condition) => void
	error: unknown
}) {
	const all = useConditionFields()
	// A segment cannot depend on itself.
	const fields = useMemo(
		() => all.filter(({ field }) => field !== `segment.${segment?.id}`),
		[all, segment],
	)
	return (
		<ConditionBuilder value={condition} onChange={setCondition} fields={fields} error={error} />
	)
}
