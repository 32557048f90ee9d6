import {
	autocompletion,
	closeBrackets,
	closeBracketsKeymap,
	completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { lintGutter, lintKeymap } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, type Extension } from '@codemirror/state'
import {
	EditorView,
	highlightActiveLine,
	highlightActiveLineGutter,
	keymap,
	lineNumbers,
} from '@codemirror/view'
import { nonce } from '../parts/nonce.ts'
import { theme } from './code-theme.ts'
import { liquidInHtml } from './liquid-in-html.ts'
import type { Variable } from './variables.ts'

const language = new Compartment()

/** HTML with Liquid, which completes these variables. */
const languageWith = (variables: Variable[]) =>
	liquidInHtml({
		variables: variables
			.filter(({ path }) => path.length === 1)
			.map(({ path, detail }) => ({ label: path[0]!, detail, type: 'variable', boost: 1 })),
		properties: (path) =>
			variables
				.filter((one) => one.path.length === path.length + 1)
				.filter((one) => path.every((part, index) => one.path[index] === part))
				.map((one) => ({ label: one.path.at(-1)!, detail: one.detail, type: 'property' })),
	})

export const complete = (variables: Variable[]) => language.reconfigure(languageWith(variables))

/** Tab is not bound: it leads out of the editor, as it does everywhere. */
export const extensions = (
	name: string,
	variables: Variable[],
	onChange: (view: EditorView) => void,
): Extension => [
	EditorView.cspNonce.of(nonce),
	EditorView.contentAttributes.of({ 'aria-label': name, spellcheck: 'false' }),
	EditorView.lineWrapping,
	EditorView.updateListener.of(({ docChanged, view }) => docChanged && onChange(view)),
	language.of(languageWith(variables)),
	theme,
	lineNumbers(),
	lintGutter(),
	history(),
	indentOnInput(),
	bracketMatching(),
	closeBrackets(),
	autocompletion(),
	highlightActiveLine(),
	highlightActiveLineGutter(),
	highlightSelectionMatches(),
	search({ top: true }),
	keymap.of([
		...closeBracketsKeymap,
		...defaultKeymap,
		...searchKeymap,
		...historyKeymap,
		...completionKeymap,
		...lintKeymap,
	]),
]
