import { useState } from 'react'
import type { TemplatePreview } from '../../client/index.ts'
import { Code } from '../parts/copy.tsx'
import { Fault } from '../parts/fault.tsx'
import { Checkbox } from '../parts/field.tsx'
import { Row } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { Choice } from './choice.tsx'
import { ContactChoice } from './contact-choice.tsx'
import type { Person } from './person.ts'
import { PreviewData } from './preview-data.tsx'
import styles from './preview-pane.module.css'
import { ScaledMail } from './scaled-mail.tsx'

const views = [
	{ value: 'desktop', name: 'Desktop' },
	{ value: 'phone', name: 'Phone' },
	{ value: 'text', name: 'Text' },
] as const

const widths = { desktop: 640, phone: 375 }
const isNarrow = () => matchMedia('(max-width: 700px)').matches

interface Props {
	person: Person
	good: TemplatePreview | undefined
	error: unknown
	/** Whether its fault is shown at the editor or at a field. */
	isFaultElsewhere: boolean
	onUnset: (variable: string) => void
}

/** The mail as its reader will see it. */
export function PreviewPane({ person, good, error, isFaultElsewhere, onUnset }: Props) {
	const [view, setView] = useState<(typeof views)[number]['value']>(() =>
		isNarrow() ? 'phone' : 'desktop',
	)
	const [isDark, setDark] = useState(false)
	return (
		<section className={styles.pane} aria-label="Preview">
			<Row>
				<Choice name="View" value={view} options={views} onChange={setView} />
				<Checkbox
					label="Dark"
					checked={isDark}
					disabled={view === 'text'}
					onChange={(event) => setDark(event.target.checked)}
				/>
			</Row>
			<Row>
				<ContactChoice value={person.contact} onChange={person.choose} />
				<PreviewData person={person} error={error} />
			</Row>
			{good && good.unset.length > 0 && <Unset names={good.unset} onChoose={onUnset} />}
			{error && !isFaultElsewhere ? <Fault error={error} /> : null}
			{error && good ? (
				<p className={styles.note}>This is the last version that could be rendered.</p>
			) : null}
			{good ? (
				<>
					<p className={styles.subject}>
						<span className="unseen">Subject:</span> {good.subject || '(no subject)'}
					</p>
					{view === 'text' ? (
						<Code name="text part" text={good.text} />
					) : (
						<ScaledMail html={good.html} width={widths[view]} isDark={isDark} />
					)}
				</>
			) : error ? (
				<p className={styles.note}>Correct the fault to see the preview.</p>
			) : (
				<Waiting rows={10} />
			)}
		</section>
	)
}

const Unset = ({ names, onChoose }: { names: string[]; onChoose: (name: string) => void }) => (
	<p className={styles.unset}>
		Without a value:
		{names.map((name) => (
			<button key={name} type="button" onClick={() => onChoose(name)}>
				{name}
			</button>
		))}
	</p>
)
