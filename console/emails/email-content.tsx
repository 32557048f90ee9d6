import { useMutation, useQuery } from '@tanstack/react-query'
import type { EmailWithAttempts } from '../../client/index.ts'
import { isStatus } from '../client.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/copy.tsx'
import { Fault } from '../parts/fault.tsx'
import { MailFrame } from '../parts/mail-frame.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'

/** A mail as it went: its HTML, its text and its headers. */
export function EmailContent({ mail }: { mail: EmailWithAttempts }) {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'emails', mail.id, 'parts'],
		queryFn: () => api.emails.getParts(mail.id),
		staleTime: Infinity,
	})
	if (isStatus(error, 404, 409)) return <p>The content of this mail is not kept any more.</p>
	if (error) return <Fault error={error} retry={() => void refetch()} />
	if (!data) return <Waiting rows={10} />
	const headers = data.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
	return (
		<Stack>
			<Tabs
				tabs={[
					{ id: 'html', name: 'Mail', content: <MailFrame html={data.html} /> },
					{ id: 'text', name: 'Text', content: <Code name="text part" text={data.text} /> },
					{ id: 'headers', name: 'Headers', content: <Code name="headers" text={headers} /> },
				]}
			/>
			<SourceLink mail={mail} />
			{mail.attachments.length > 0 && (
				<p>
					With{' '}
					{mail.attachments.map(({ filename, size }) => `${filename} (${inKb(size)})`).join(', ')}
				</p>
			)}
		</Stack>
	)
}

const inKb = (bytes: number) => `${Math.ceil(bytes / 1024)} KB`

function SourceLink({ mail }: { mail: EmailWithAttempts }) {
	const { api } = useProject()
	const { mutate, error, isPending } = useMutation({ mutationFn: download })
	async function download() {
		const source = await api.emails.getSource(mail.id)
		const url = URL.createObjectURL(new Blob([source], { type: 'message/rfc822' }))
		const link = Object.assign(document.createElement('a'), {
			href: url,
			download: `${mail.id}.eml`,
		})
		link.click()
		URL.revokeObjectURL(url)
	}
	return (
		<>
			<Fault error={error} />
			<Row>
				<Button kind="quiet" isBusy={isPending} onClick={() => mutate()}>
					Download the whole message
				</Button>
			</Row>
		</>
	)
}
