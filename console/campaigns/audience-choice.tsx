import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ConditionBuilder } from '../conditions/condition-builder.tsx'
import { Choice } from '../editor/choice.tsx'
import type { Writing } from '../editor/writing.ts'
import { Fault } from '../parts/fault.tsx'
import { Select } from '../parts/field.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Card, Row, Soft, Stack } from '../parts/page.tsx'
import { segmentsQuery } from '../segments/segments-query.ts'
import { useProject } from '../shell/projects.ts'
import styles from './audience-choice.module.css'
import type { CampaignValues } from './campaign-values.ts'
import { useAudienceCount } from './use-audience-count.ts'

const kinds = [
	{ value: 'ALL', name: 'All contacts' },
	{ value: 'SEGMENT', name: 'Segment' },
	{ value: 'FILTERED', name: 'Condition' },
] as const

interface Props {
	writing: Writing<CampaignValues>
	/** Of saving. */
	error: unknown
}

export function AudienceChoice({ writing, error }: Props) {
	const [audience, setAudience] = useState(() => {
		const { audienceType, segmentId, audienceCondition } = writing.now()
		return { audienceType, segmentId, audienceCondition }
	})
	const { audienceType, segmentId, audienceCondition } = audience
	function change(changes: Partial<typeof audience>) {
		setAudience({ ...audience, ...changes })
		writing.change(changes)
	}
	return (
		<Card>
			<Stack>
				<Row>
					<Choice
						name="Audience"
						value={audienceType}
						options={kinds}
						onChange={(value) => change({ audienceType: value })}
					/>
					<AudienceCount writing={writing} />
				</Row>
				{audienceType === 'SEGMENT' && (
					<div className={styles.segment}>
						<SegmentChoice
							value={segmentId}
							error={error}
							onChange={(id) => change({ segmentId: id })}
						/>
					</div>
				)}
				{audienceType === 'FILTERED' && (
					<ConditionBuilder
						value={audienceCondition}
						onChange={(condition) => change({ audienceCondition: condition })}
						error={error}
						path="audienceCondition"
					/>
				)}
			</Stack>
		</Card>
	)
}

/** How many contacts would get it now. */
function AudienceCount({ writing }: { writing: Writing<CampaignValues> }) {
	const { type, isComplete, data, error } = useAudienceCount(writing)
	if (!isComplete) return <Soft>Choose the audience to see how many contacts get it.</Soft>
	if (error) return <Fault error={error} />
	if (!data) return <Soft>Counting…</Soft>
	const kind = type === 'TRANSACTIONAL' ? 'contact' : 'subscribed contact'
	return (
		<p role="status">
			{data.count === null ? (
				<Soft>Counting takes too long. It is counted when the campaign is saved.</Soft>
			) : (
				<>
					<strong>{formatCount(data.count)}</strong> {kind}
					{data.count === 1 ? ' gets it' : 's get it'}
				</>
			)}
		</p>
	)
}

interface ChoiceProps {
	value: string | null
	error: unknown
	onChange: (id: string | null) => void
}

function SegmentChoice({ value, error, onChange }: ChoiceProps) {
	const current = useProject()
	const segments = useQuery(segmentsQuery(current))
	if (segments.error) return <Fault error={segments.error} />
	return (
		<Select
			name="segmentId"
			label="Segment"
			value={value ?? ''}
			error={error}
			options={[
				{ value: '', name: segments.data?.length === 0 ? 'No segments yet' : 'Choose a segment' },
				...(segments.data ?? []).map(({ id, name }) => ({ value: id, name })),
			]}
			hint={
				segments.data?.length === 0 && (
					<Link to="/console/$projectId/segments/new" params={{ projectId: current.project.id }}>
						Make a first segment
					</Link>
				)
			}
			onChange={({ target }) => onChange(target.value || null)}
		/>
	)
}
