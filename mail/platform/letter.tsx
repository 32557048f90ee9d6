import { Button, Heading, Text } from 'react-email'
import { Layout } from '../layout-page.tsx'
import type { Letter as Content } from './words.ts'

interface LetterProps extends Content {
	language: string
	url: string | null
	addressOfButton: string
}

/** One of our own mails. */
export function Letter(props: LetterProps) {
	const { language, subject, paragraphs, button, url, addressOfButton, remark } = props
	return (
		<Layout language={language} direction="ltr">
			<Heading as="h1">{subject}</Heading>
			{paragraphs.map((paragraph) => (
				<Text key={paragraph} style={text}>
					{paragraph}
				</Text>
			))}
			{button && url && (
				<>
					<Button href={url} style={buttonStyle}>
						{/* In the dark the layout gives links another colour. */}
						<span style={white}>{button}</span>
					</Button>
					<Text style={small}>
						{addressOfButton}
						<br />
						<a href={url}>{url}</a>
					</Text>
				</>
			)}
			<Text style={small}>{remark}</Text>
		</Layout>
	)
}

const text = { fontSize: '16px', lineHeight: '1.6' }
const small = { fontSize: '14px', lineHeight: '1.6', overflowWrap: 'anywhere' } as const
const white = { color: '#ffffff' }
const buttonStyle = {
	backgroundColor: '#0b57c2',
	borderRadius: '6px',
	...white,
	fontSize: '16px',
	fontWeight: 'bold',
	padding: '12px 20px',
}
