/** Asks for the passphrase of a private key at a terminal, without echo; nothing of it is kept. */
import type { AskPassphrase } from '../ssh/private-key.ts'
import { plain } from './output.ts'

const MOST = 1024
const ENTER = [0x0d, 0x0a]
const CANCEL = [0x03, 0x04]
const ERASE = [0x08, 0x7f]

/** Reads one line of the terminal byte by byte; undefined when it was cancelled. */
function readHidden(): Promise<Buffer | undefined> {
  const { stdin } = process
  const typed = Buffer.alloc(MOST)
  let length = 0
  return new Promise((resolve) => {
    const end = (isGiven: boolean): void => {
      stdin.off('data', take)
      stdin.setRawMode(false)
      stdin.pause()
      process.stderr.write('\n')
      const answer = isGiven ? Buffer.from(typed.subarray(0, length)) : undefined
      typed.fill(0)
      resolve(answer)
    }
    const take = (chunk: Buffer): void => {
      for (const byte of chunk) {
        if (ENTER.includes(byte)) return end(true)
        if (CANCEL.includes(byte)) return end(false)
        if (ERASE.includes(byte)) length = Math.max(0, length - 1)
        else if (length < MOST) typed[length++] = byte
      }
    }
    stdin.setRawMode(true)
    stdin.on('data', take)
    stdin.resume()
  })
}

let turn: Promise<unknown> = Promise.resolve()

const ask: AskPassphrase = ({ file, attempt }) => {
  const asked = turn.then(() => {
    process.stderr.write(`${attempt > 1 ? 'That was wrong. ' : ''}Passphrase of ${plain(file)}: `)
    return readHidden()
  })
  // Several servers may want a key at once; a person answers one question at a time.
  turn = asked.catch(() => undefined)
  return asked
}

/** Nobody is asked where nobody can answer. */
export const askPassphrase: AskPassphrase | undefined = process.stdin.isTTY && process.stderr.isTTY ? ask : undefined
