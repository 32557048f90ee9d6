import { Dialog } from '@base-ui/react/dialog'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import dialog from '../parts/dialog.module.css'
import styles from './command-palette.module.css'
import { type Command, contains, useCommands } from './commands.ts'
import { useRecords } from './records.ts'

/** Ctrl-K: every page, the commonest acts and the records of the project, by a few letters of their names. */
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
	const records = useRecords(typed)
	const found = [...commands.filter(({ name }) => contains(name, typed)), ...records]
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
				placeholder="A page, an act, a name or an address"
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
				aria-label="Pages, acts and records"
				className={styles.list}
			>
				{found.map((command, index) => (
					<div
						key={`${command.kind} ${command.name} ${index}`}
						id={`command-${index}`}
						role="option"
						aria-selected={index === chosen}
						className={styles.command}
						onPointerMove={() => setPlace(index)}
						onClick={() => run(command)}
					>
						<span>{command.name}</span>
						{command.keys && <kbd>{command.keys}</kbd>}
						{command.kind && <small>{command.kind}</small>}
					</div>
				))}
				{found.length === 0 && <p className={styles.command}>Nothing has this name</p>}
			</div>
		</>
	)
}
