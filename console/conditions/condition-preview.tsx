import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Condition, Contact, SegmentPreview } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Soft } from '../parts/page.tsx'
import { useSettled } from '../parts/use-settled.ts'
import { useProject } from '../shell/projects.ts'
import { isComplete } from './condition.ts'
import styles from './condition-preview.module.css'

interface Props {
	condition: Condition
	/** Below a long form: the count stays at the edge of the window until its place is in view. */
	isBelow?: boolean
}

/** How many contacts a condition finds, and the ten newest of them, while it is being built. */
export function ConditionPreview({ condition, isBelow = false }: Props) {
	const { data, error, isStale, retry } = usePreview(condition)
	const isWhole = isComplete(condition)
	return (
		<section className={styles.preview} aria-label="Preview" data-below={isBelow}>
			<p className={styles.count} aria-live="polite" aria-busy={isStale}>
				{data && isWhole ? <Count {...data} /> : <Soft>{waitingFor(isWhole, error)}</Soft>}
			</p>
			{error && isWhole ? <Fault error={error} retry={retry} /> : null}
			<ol className={styles.sample} aria-label="Sample of ten" data-stale={isStale || !isWhole}>
				{isWhole && data?.sample.length === 0 && (
					<li className={styles.person}>
						<Soft>Nobody meets this condition at present.</Soft>
					</li>
				)}
				{(data?.sample ?? []).map((contact) => (
					<Person key={contact.id} contact={contact} />
				))}
			</ol>
		</section>
	)
}

/** The latest answer; those to earlier forms of the condition are dropped. */
function usePreview(condition: Condition) {
	const { project, api } = useProject()
	const settled = useSettled(condition)
	const { data, error, isPlaceholderData, refetch } = useQuery({
		queryKey: [project.id, 'segments', 'preview', JSON.stringify(settled)],
		queryFn: ({ signal }) => api.segments.preview({ condition: settled }, { signal }),
		enabled: isComplete(settled),
		placeholderData: keepPreviousData,
	})
	return {
		data,
		error,
		isStale: isPlaceholderData || settled !== condition,
		retry: () => void refetch(),
	}
}

function waitingFor(isWhole: boolean, error: unknown) {
	if (!isWhole) return 'Complete the condition to see who it finds.'
	return error ? 'The contacts could not be counted.' : 'Counting …'
}

function Count({ count, isCounted }: SegmentPreview) {
	if (!isCounted || count === null) return 'Too many to count at once'
	return (
		<>
			<strong>{formatCount(count)}</strong> {count === 1 ? 'contact' : 'contacts'}
			{count > 0 && <Soft> · {count > 10 ? 'the ten newest' : 'all of them'}</Soft>}
		</>
	)
}

const Person = ({ contact: { email, data, subscribed } }: { contact: Contact }) => (
	<li className={styles.person}>
		<span>
			{email} <Soft>{textOf(data)}</Soft>
		</span>
		{!subscribed && <Badge>Unsubscribed</Badge>}
	</li>
)

/** A few values that help to recognise someone. */
const textOf = (data: Contact['data']) =>
	Object.entries(data)
		.filter(([, value]) => typeof value === 'string' || typeof value === 'number')
		.slice(0, 3)
		.map(([, value]) => String(value))
		.join(', ')
