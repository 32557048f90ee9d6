import { lazy, Suspense, useCallback, useRef } from 'react'
import { TempostError } from '../../client/index.ts'
import { Waiting } from '../parts/waiting.tsx'
import type { CodeEditorHandle } from './code-editor.tsx'
import type { SyntaxFault } from './code-marks.ts'
import styles from './content-editor.module.css'
import type { Content } from './content.ts'
import { ContentFields, useSenders } from './content-fields.tsx'
import type { Person } from './person.ts'
import { PreviewPane } from './preview-pane.tsx'
import { syntaxFaultsIn, usePreview } from './use-preview.ts'
import { useVariables } from './variables.ts'
import type { Writing } from './writing.ts'

const CodeEditor = lazy(() => import('./code-editor.tsx'))

interface Props {
	writing: Writing<Content>
	person: Person
	/** Of saving. */
	error: unknown
}

/** Writing a mail, with the mail beside it as its reader will see it. */
export function ContentEditor({ writing, person, error }: Props) {
	const preview = usePreview(writing, person)
	const variables = useVariables()
	const code = useRef<CodeEditorHandle>(null)
	const readText = useCallback(() => writing.now().body, [writing])
	const changeText = useCallback((read: () => string) => writing.changeBody(read), [writing])
	const { good, faults, unset } = preview
	const fault = preview.error ?? error
	const senders = useSenders()
	// Their hint has a height of its own, and is above the rest.
	if (senders.isLoading) return <Waiting rows={16} />
	return (
		<>
			<ContentFields writing={writing} error={fault} />
			<div className={styles.panes}>
				<section className={styles.code} aria-label="Body">
					<Suspense fallback={<div className={styles.waiting} />}>
						<CodeEditor
							name="Body, HTML with Liquid"
							readText={readText}
							onChange={changeText}
							variables={variables}
							faults={faults}
							unset={unset}
							ref={code}
						/>
					</Suspense>
					<SyntaxFaults faults={faults} onChoose={(one) => code.current?.goTo(one)} />
				</section>
				<PreviewPane
					person={person}
					good={good}
					error={preview.error}
					isFaultElsewhere={isAtField(preview.error)}
					onUnset={(name) => code.current?.find(name)}
				/>
			</div>
		</>
	)
}

const SyntaxFaults = ({
	faults,
	onChoose,
}: {
	faults: SyntaxFault[]
	onChoose: (fault: SyntaxFault) => void
}) => (
	<div className={styles.faults} role="status">
		{faults.map((fault) => (
			<p key={`${fault.line} ${fault.column}`}>
				<button type="button" onClick={() => onChoose(fault)}>
					Line {fault.line}
				</button>{' '}
				The body {fault.message}
			</p>
		))}
	</div>
)

const shown = new Set(['subject', 'type', 'language'])

/** Whether every fault is shown at its field, in the editor or at the data. */
function isAtField(error: unknown) {
	if (!(error instanceof TempostError) || error.fields.length === 0) return false
	const inEditor = syntaxFaultsIn(error).length
	const atFields = error.fields.filter(
		({ field }) => shown.has(field) || field.split('.', 1)[0] === 'data',
	).length
	return inEditor + atFields === error.fields.length
}
