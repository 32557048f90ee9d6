import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { MailboxMail } from '../../client/index.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Code } from '../parts/copy.tsx'
import { Fault } from '../parts/fault.tsx'
import { MailFrame } from '../parts/mail-frame.tsx'
import { Row, Soft, Stack } from '../parts/page.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { mailKey } from './messages.ts'

const phoneWidth = 390
const pixelIsLoaded = 'The tracking pixel is loaded: that counts as an open.'

/** A mail as its reader sees it, its text, its headers and its source. */
export const MessageContent = ({ mail }: { mail: MailboxMail }) => (
	<Tabs
		tabs={[
			{ id: 'html', name: 'Mail', content: <Body mail={mail} /> },
			{ id: 'text', name: 'Text', content: <Code name="text part" text={mail.text} /> },
			{ id: 'headers', name: 'Headers', content: <Code name="headers" text={headersOf(mail)} /> },
			{ id: 'source', name: 'Source', content: <Source id={mail.id} /> },
		]}
	/>
)

const headersOf = ({ headers }: MailboxMail) =>
	Object.entries(headers)
		.map(([name, value]) => `${name}: ${value}`)
		.join('\n')

function Body({ mail }: { mail: MailboxMail }) {
	const { project, api } = useProject()
	const [hasPixel, setPixel] = useState(false)
	const [isPhone, setPhone] = useState(false)
	const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches)
	const { data, error, refetch } = useQuery({
		queryKey: [...mailKey(project.id, mail.id), 'body', hasPixel],
		queryFn: () => api.mailbox.getBody(mail.id, { pixel: hasPixel }),
		staleTime: Infinity,
	})
	return (
		<Stack>
			{(mail.opensTracked || mail.clicksTracked) && (
				<p>
					<Soft>
						{mail.opensTracked &&
							(hasPixel ? pixelIsLoaded : 'Reading here does not count as an open.')}{' '}
						{mail.clicksTracked && 'Following a link counts a click.'}
					</Soft>
				</p>
			)}
			<Row>
				{mail.opensTracked && !hasPixel && (
					<Button onClick={() => setPixel(true)}>Load the tracking pixel</Button>
				)}
				<Button aria-pressed={isPhone} onClick={() => setPhone(!isPhone)}>
					Phone width
				</Button>
				<Button aria-pressed={isDark} onClick={() => setDark(!isDark)}>
					Dark
				</Button>
			</Row>
			{data !== undefined ? (
				<MailFrame
					key={String(hasPixel)}
					html={data}
					isDark={isDark}
					hasImagesAtOnce={hasPixel}
					{...(isPhone && { width: phoneWidth })}
				/>
			) : error ? (
				<Fault error={error} retry={() => void refetch()} />
			) : (
				<Waiting />
			)}
		</Stack>
	)
}

function Source({ id }: { id: string }) {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [...mailKey(project.id, id), 'source'],
		queryFn: () => api.mailbox.getSource(id),
		staleTime: Infinity,
	})
	if (data === undefined)
		return error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />
	return (
		<Stack>
			<Row>
				<a className={buttonClass()} href={`/mailbox/messages/${id}/raw`} download={`${id}.eml`}>
					Download .eml
				</a>
			</Row>
			<Code name="source" text={data} />
		</Stack>
	)
}
