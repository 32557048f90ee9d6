/** Wraps the same bytes: a Buffer arrives from another thread as a Uint8Array. */
export const bufferOf = (bytes: Uint8Array) =>
	Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The memory of bytes that can be moved to another thread, because it contains nothing else. */
export const ownBuffer = ({ buffer, byteLength }: Uint8Array) =>
	buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
