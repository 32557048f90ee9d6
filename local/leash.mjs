// Preloaded into the processes that `npm start` makes: the channel to the parent closes when the
// parent dies, even by kill -9, and no process outlives it to work beside the next one.
if (process.channel) {
	process.once('disconnect', () => {
		process.kill(process.pid, 'SIGTERM')
		setTimeout(() => process.kill(process.pid, 'SIGKILL'), 20_000).unref()
	})
	process.channel.unref()
}
