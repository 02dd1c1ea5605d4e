/** Messages of the boot scripts, on stderr, so that stdout is free for a command's output. */

/** @param {string} text one line, without the program name */
export const say = (text) => void process.stderr.write(`sluice: ${text}\n`)

/** A stopwatch. @returns {() => string} seconds since the call, for example `3.5 s` */
export function stopwatch() {
  const from = performance.now()
  return () => `${((performance.now() - from) / 1000).toFixed(1)} s`
}

/** An expected stop: boot.mjs prints its message as one line and exits with `code`. */
export class Stop extends Error {
  /** @param {string} message @param {number} code */
  constructor(message, code = 1) {
    super(message)
    this.code = code
  }
}
