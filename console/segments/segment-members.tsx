import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Contact, Segment } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { contactColumns } from '../contacts/contact-columns.tsx'
import { useColumns } from '../contacts/use-columns.ts'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { counted } from '../parts/counted.ts'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { AddMembers } from './add-members.tsx'
import { useForgetSegments } from './use-segment.ts'

export function SegmentMembers({ segment }: { segment: Segment }) {
	const { project } = useProject()
	const [chosen, setChosen] = useState<ReadonlyMap<string, Contact>>(new Map())
	const list = useMembers(segment)
	const { keys } = useColumns()
	const columns = useMemo(() => contactColumns(keys), [keys])
	const toggle = (contact: Contact) =>
		setChosen((old) => {
			const changed = new Map(old)
			if (!changed.delete(contact.id)) changed.set(contact.id, contact)
			return changed
		})
	const isStatic = segment.type === 'STATIC'
	return (
		<Stack>
			{chosen.size > 0 && (
				<Remove
					segment={segment}
					contacts={[...chosen.values()]}
					onDone={() => setChosen(new Map())}
				/>
			)}
			<Table
				name="Members"
				{...list}
				columns={columns}
				rowKey={({ email }) => email}
				linkOf={({ id }) => `/console/${project.id}/contacts/${id}`}
				{...(isStatic && { chosen: { has: ({ id }: Contact) => chosen.has(id), toggle } })}
				empty={isStatic ? <NobodyAdded segment={segment} /> : <NobodyMatches />}
			/>
		</Stack>
	)
}

function useMembers(segment: Segment) {
	const { project, api } = useProject()
	const query = useInfiniteQuery({
		queryKey: [project.id, 'segments', segment.id, 'members'],
		queryFn: ({ pageParam }) =>
			api.segments.listContacts(segment.id, { page: pageParam, pageSize: 50 }),
		initialPageParam: 1,
		getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
		refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? liveMs.slow : false),
	})
	return {
		rows: query.data?.pages.flatMap(({ data }) => data),
		error: query.error,
		retry: () => void query.refetch(),
		more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
		isLoadingMore: query.isFetchingNextPage,
	}
}

/** The API takes so many addresses at once. */
const mostAtOnce = 500

function Remove({
	segment,
	contacts,
	onDone,
}: {
	segment: Segment
	contacts: Contact[]
	onDone: () => void
}) {
	const { api } = useProject()
	const confirm = useConfirm()
	const toast = useToast()
	const forget = useForgetSegments()
	const emails = contacts.slice(0, mostAtOnce).map(({ email }) => email)
	const people = counted(emails.length, 'contact')
	const add = useMutation({
		mutationFn: (again: string[]) => api.segments.addMembers(segment.id, { emails: again }),
		onSuccess: forget,
	})
	const remove = useMutation({
		mutationFn: () => api.segments.removeMembers(segment.id, { emails }),
		onSuccess: async ({ removed }) => {
			onDone()
			toast({ title: `${removed} removed from the segment`, undo: () => add.mutate(emails) })
			await forget()
		},
	})
	async function ask() {
		const events = segment.trackMembership ? ' Each of them emits an exit event.' : ''
		const isSure = await confirm({
			title: `Remove ${people} from ${segment.name}?`,
			body: `The contacts themselves stay.${events}`,
			act: `Remove ${people}`,
			isDestructive: true,
		})
		if (isSure) remove.mutate()
	}
	return (
		<Row>
			<Fault error={remove.error ?? add.error} />
			<Button kind="danger" onClick={() => void ask()} isBusy={remove.isPending}>
				Remove {people}
			</Button>
			<Button kind="quiet" onClick={onDone}>
				Choose none
			</Button>
		</Row>
	)
}

const NobodyMatches = () => (
	<Empty title="No contact meets the condition">
		<p>Contacts become members as soon as they meet it.</p>
	</Empty>
)

const NobodyAdded = ({ segment }: { segment: Segment }) => (
	<Empty title="No members yet" action={<AddMembers segment={segment} />}>
		<p>Add contacts by their addresses.</p>
	</Empty>
)
