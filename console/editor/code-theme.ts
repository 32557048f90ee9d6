import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The colours are our tokens, so light and dark follow by themselves. */
const frame = EditorView.theme({
	'&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)' },
	'&.cm-focused': { outline: 'none' },
	'.cm-scroller': { fontFamily: 'var(--font-code)', fontSize: '12.5px', lineHeight: '1.6' },
	'.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
	'.cm-gutters': {
		color: 'var(--text-soft)',
		backgroundColor: 'var(--surface)',
		borderRight: '1px solid var(--line)',
	},
	'.cm-activeLine': { backgroundColor: 'transparent' },
	'.cm-activeLineGutter': { color: 'var(--text)', backgroundColor: 'var(--hover)' },
	'&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
	'.cm-content ::selection': { backgroundColor: 'var(--accent-soft)' },
	'.cm-searchMatch': { backgroundColor: 'var(--warn-soft)' },
	'.cm-searchMatch-selected': { outline: '1px solid var(--warn)' },
	'.cm-tooltip': {
		color: 'var(--text)',
		backgroundColor: 'var(--surface-raised)',
		border: '1px solid var(--line)',
		borderRadius: 'var(--radius)',
		boxShadow: 'var(--shadow)',
	},
	'.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-code)' },
	'.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
	'.cm-tooltip-autocomplete ul li[aria-selected]': {
		color: 'var(--text)',
		backgroundColor: 'var(--accent-soft)',
	},
	'.cm-completionDetail': { color: 'var(--text-soft)', fontStyle: 'normal' },
	'.cm-panels': {
		color: 'var(--text)',
		backgroundColor: 'var(--page)',
		borderColor: 'var(--line)',
	},
	'.cm-textfield, .cm-button': {
		color: 'var(--text)',
		backgroundColor: 'var(--surface)',
		backgroundImage: 'none',
		border: '1px solid var(--line-strong)',
		borderRadius: 'var(--radius)',
	},
	'.cm-diagnostic': { padding: '4px 8px' },
	'.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
	'.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
	'.cm-lintRange-error': {
		backgroundImage: 'none',
		backgroundColor: 'var(--bad-soft)',
		borderBottom: '2px solid var(--bad)',
	},
	'.cm-lintRange-warning': {
		backgroundImage: 'none',
		backgroundColor: 'var(--warn-soft)',
		borderBottom: '2px dotted var(--warn)',
	},
})

const colours = HighlightStyle.define([
	{ tag: [tags.tagName, tags.angleBracket], color: 'var(--info)' },
	{ tag: tags.attributeName, color: 'var(--text-soft)' },
	{ tag: [tags.string, tags.attributeValue], color: 'var(--good)' },
	{ tag: [tags.number, tags.bool, tags.atom], color: 'var(--warn)' },
	{ tag: [tags.comment, tags.documentMeta], color: 'var(--text-soft)', fontStyle: 'italic' },
	{ tag: [tags.brace, tags.variableName, tags.propertyName], color: 'var(--accent)' },
	{
		tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.operatorKeyword],
		color: 'var(--accent)',
		fontWeight: '600',
	},
	{ tag: tags.invalid, color: 'var(--bad)' },
])

export const theme = [frame, syntaxHighlighting(colours)]
