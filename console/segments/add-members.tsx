import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Segment } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Checkbox, TextArea } from '../parts/field.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Form, type FormValues } from '../parts/form.tsx'
import { Stack } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { useForgetSegments } from './use-segment.ts'

/** The API takes so many addresses at once. */
const mostAtOnce = 500

export function AddMembers({ segment }: { segment: Segment }) {
	const [isOpen, setOpen] = useState(false)
	return (
		<>
			<Button kind="primary" onClick={() => setOpen(true)}>
				Add members
			</Button>
			<Dialog
				title={`Add members to ${segment.name}`}
				isOpen={isOpen}
				onClose={() => setOpen(false)}
			>
				<AddForm segment={segment} onDone={() => setOpen(false)} />
			</Dialog>
		</>
	)
}

function AddForm({ segment, onDone }: { segment: Segment; onDone: () => void }) {
	const toast = useToast()
	const forget = useForgetSegments()
	const add = useAdding(segment)
	const [unknown, setUnknown] = useState<string[]>([])
	function submit(values: FormValues) {
		add.mutate(values, {
			onSuccess: async ({ added, created, notFound }) => {
				const news = created > 0 ? `, ${formatCount(created)} of them new contacts` : ''
				toast({ title: `${formatCount(added)} added${news}` })
				setUnknown(notFound)
				if (notFound.length === 0) onDone()
				await forget()
			},
		})
	}
	return (
		<Form act="Add" onSubmit={submit} isBusy={add.isPending} error={add.error} cancel={onDone}>
			<TextArea
				name="emails"
				label="Addresses"
				rows={8}
				hint="One per line, or separated by commas or spaces"
				error={add.error}
			/>
			<Checkbox name="createMissing" label="Create contacts that do not exist" />
			<Checkbox
				name="subscribed"
				label="New contacts are subscribed"
				hint="Only with their consent"
			/>
			{unknown.length > 0 && <Unknown emails={unknown} />}
		</Form>
	)
}

function useAdding(segment: Segment) {
	const { api } = useProject()
	return useMutation({
		mutationFn: async (values: FormValues) => {
			const emails = values
				.text('emails')
				.split(/[\s,;]+/)
				.filter(Boolean)
			const sum = { added: 0, created: 0, notFound: [] as string[] }
			for (let from = 0; from === 0 || from < emails.length; from += mostAtOnce) {
				const did = await api.segments.addMembers(segment.id, {
					emails: emails.slice(from, from + mostAtOnce),
					createMissing: values.isChecked('createMissing'),
					subscribed: values.isChecked('subscribed'),
				})
				sum.added += did.added
				sum.created += did.created
				sum.notFound.push(...did.notFound)
			}
			return sum
		},
	})
}

const Unknown = ({ emails }: { emails: string[] }) => (
	<Stack>
		<p role="status">
			{formatCount(emails.length)} {emails.length === 1 ? 'address belongs' : 'addresses belong'} to
			no contact: {emails.slice(0, 20).join(', ')}
			{emails.length > 20 && ' …'}
		</p>
	</Stack>
)
