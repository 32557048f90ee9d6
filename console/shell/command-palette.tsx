import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { configQuery } from '../config.ts'
import dialog from '../parts/dialog.module.css'
import styles from './command-palette.module.css'
import { pagesFor } from './pages.ts'
import { useProject } from './projects.ts'
import { chooseTheme, themes } from './theme.ts'

interface Command {
	name: string
	keys?: string
	act: () => void
}

/** Ctrl-K: every page and the commonest acts, by a few letters of their names. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
	return (
		<Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
			<Dialog.Portal>
				<Dialog.Backdrop className={dialog.veil} />
				<Dialog.Popup className={`${dialog.dialog} ${styles.palette}`}>
					<Dialog.Title className="unseen">Go to or do</Dialog.Title>
					<Commands onClose={onClose} />
				</Dialog.Popup>
			</Dialog.Portal>
		</Dialog.Root>
	)
}

function Commands({ onClose }: { onClose: () => void }) {
	const commands = useCommands()
	const [typed, setTyped] = useState('')
	const [place, setPlace] = useState(0)
	const found = commands.filter(({ name }) => contains(name, typed))
	const chosen = Math.min(place, found.length - 1)
	const list = useRef<HTMLDivElement>(null)
	useEffect(() => {
		// Chromium answers with a promise, which an effect must not return.
		list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' })
	}, [chosen])
	const run = (command: Command | undefined) => {
		if (!command) return
		onClose()
		command.act()
	}
	function follow(event: KeyboardEvent) {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
		if (step) setPlace(Math.min(Math.max(chosen + step, 0), found.length - 1))
		else if (event.key === 'Enter') run(found[chosen])
		else return
		event.preventDefault()
	}
	return (
		<>
			<input
				className={styles.input}
				role="combobox"
				aria-label="Go to or do"
				aria-expanded="true"
				aria-controls="commands"
				aria-activedescendant={`command-${chosen}`}
				placeholder="A page or an act"
				autoFocus
				value={typed}
				onKeyDown={follow}
				onChange={(event) => {
					setTyped(event.target.value)
					setPlace(0)
				}}
			/>
			<div
				ref={list}
				id="commands"
				role="listbox"
				aria-label="Pages and acts"
				className={styles.list}
			>
				{found.map((command, index) => (
					<div
						key={command.name}
						id={`command-${index}`}
						role="option"
						aria-selected={index === chosen}
						className={styles.command}
						onPointerMove={() => setPlace(index)}
						onClick={() => run(command)}
					>
						{command.name}
						{command.keys && <kbd>{command.keys}</kbd>}
					</div>
				))}
				{found.length === 0 && <p className={styles.command}>Nothing has this name</p>}
			</div>
		</>
	)
}

function useCommands(): Command[] {
	const { project } = useProject()
	const { data: config } = useQuery(configQuery)
	const navigate = useNavigate()
	return useMemo(
		() => [
			...pagesFor(project, config).flatMap((page) =>
				page
					? [
							{
								name: page.name,
								keys: `g ${page.letter}`,
								act: () => void navigate({ to: `/console/${project.id}/${page.path}` as '/' }),
							},
						]
					: [],
			),
			...themes.map((theme) => ({
				name: `Colours: ${theme}`,
				act: () => chooseTheme(theme),
			})),
			{ name: 'New project', act: () => void navigate({ to: '/console/new-project' }) },
			{ name: 'API description', act: () => void window.open('/docs', '_blank', 'noopener') },
		],
		[project, config, navigate],
	)
}

/** Whether all letters appear, in this order. */
function contains(name: string, letters: string) {
	let from = 0
	for (const letter of letters.toLowerCase().replaceAll(' ', '')) {
		from = name.toLowerCase().indexOf(letter, from) + 1
		if (from === 0) return false
	}
	return true
}
