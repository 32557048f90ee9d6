import './short-slices.ts'
import { setDiagnostics } from '@codemirror/lint'
import { EditorView } from '@codemirror/view'
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import { complete, extensions } from './code-extensions.ts'
import { marksIn, placeOf, type SyntaxFault, unsetIn } from './code-marks.ts'
import styles from './code-editor.module.css'
import type { Variable } from './variables.ts'

export interface CodeEditorHandle {
	goTo: (fault: SyntaxFault) => void
	/** To the first use of a variable. */
	find: (variable: string) => void
}

interface Props {
	name: string
	/** Read once: the editor keeps its text itself. */
	readText: () => string
	/** Called at each change with a function that reads the text. */
	onChange: (read: () => string) => void
	variables: Variable[]
	faults: SyntaxFault[]
	/** Variables that have no value. */
	unset: string[]
	ref: Ref<CodeEditorHandle>
}

/** HTML with Liquid. React does not render it again while its writer types. */
export default function CodeEditor({
	name,
	readText,
	onChange,
	variables,
	faults,
	unset,
	ref,
}: Props) {
	const place = useRef<HTMLDivElement>(null)
	const view = useRef<EditorView>(null)
	const given = useRef({ name, readText, onChange, variables })

	useEffect(() => {
		const { name: label, variables: known } = given.current
		const editor = new EditorView({
			doc: given.current.readText(),
			parent: place.current!,
			extensions: extensions(label, known, (changed) =>
				given.current.onChange(() => changed.state.doc.toString()),
			),
		})
		view.current = editor
		return () => editor.destroy()
	}, [])
	useEffect(() => view.current?.dispatch({ effects: complete(variables) }), [variables])
	useEffect(() => {
		const { state } = view.current!
		view.current!.dispatch(setDiagnostics(state, marksIn(state.doc, faults, unset)))
	}, [faults, unset])
	useImperativeHandle(ref, () => ({
		goTo: ({ line, column }) =>
			select(view.current!, placeOf(view.current!.state.doc, line, column)),
		find(variable) {
			const [first] = unsetIn(view.current!.state.doc.toString(), [variable])
			if (first) select(view.current!, first.from, first.to)
		},
	}))
	return <div ref={place} className={styles.editor} />
}

function select(view: EditorView, from: number, to = from) {
	view.dispatch({
		selection: { anchor: from, head: to },
		effects: EditorView.scrollIntoView(from, { y: 'center' }),
	})
	view.focus()
}
