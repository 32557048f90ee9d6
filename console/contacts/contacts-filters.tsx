import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useCallback, useState } from 'react'
import { useSegmentNames } from '../conditions/condition-fields.ts'
import { sentenceOf } from '../conditions/condition-words.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Filter } from '../parts/filter.tsx'
import { Row } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { segmentsQuery } from '../segments/segments-query.ts'
import { useProject } from '../shell/projects.ts'
import { ConditionDialog } from './condition-dialog.tsx'
import type { ContactFilters } from './contact-filters.ts'

const route = getRouteApi('/console/$projectId/contacts')

export function ContactsFilters() {
	const { search, subscribed, segment } = route.useSearch()
	const navigate = route.useNavigate()
	const set = useCallback(
		(changed: ContactFilters) =>
			void navigate({ search: (old) => ({ ...old, ...changed }), replace: true }),
		[navigate],
	)
	const find = useCallback((text: string) => set({ search: text || undefined }), [set])
	const { data: segments = [] } = useQuery(segmentsQuery(useProject()))
	return (
		<Row>
			<SearchBox name="Part of the address" value={search ?? ''} onChange={find} />
			<Filter
				name="Subscription"
				all="Subscribed or not"
				value={subscribed === undefined ? undefined : String(subscribed)}
				options={subscriptions}
				onChange={(value) =>
					set({ subscribed: value === undefined ? undefined : value === 'true' })
				}
			/>
			{(segments.length > 0 || segment) && (
				<Filter
					name="Segment"
					all="Any segment"
					value={segment}
					options={segments.map(({ id, name }) => ({ value: id, name }))}
					onChange={(value) => set({ segment: value })}
				/>
			)}
			<Condition set={set} />
		</Row>
	)
}

const subscriptions = [
	{ value: 'true', name: 'Subscribed' },
	{ value: 'false', name: 'Unsubscribed' },
]

function Condition({ set }: { set: (changed: ContactFilters) => void }) {
	const { condition } = route.useSearch()
	const names = useSegmentNames()
	const [isOpen, setOpen] = useState(false)
	return (
		<>
			<Button onClick={() => setOpen(true)}>
				{condition ? `Where ${shortened(sentenceOf(condition, names))}` : 'Add a condition'}
			</Button>
			{condition && (
				<IconButton
					name="Remove the condition"
					icon={<X size={15} />}
					onClick={() => set({ condition: undefined })}
				/>
			)}
			{isOpen && (
				<ConditionDialog
					condition={condition}
					onClose={() => setOpen(false)}
					onApply={(changed) => {
						set({ condition: changed })
						setOpen(false)
					}}
				/>
			)}
		</>
	)
}

const longest = 60
const shortened = (text: string) =>
	text.length > longest ? `${text.slice(0, longest - 1)}…` : text
