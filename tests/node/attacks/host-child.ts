/**
 * The host process like Electron's utility process, under plain Node: `host-child.ts DATA`. Prints `ready`, ends with its input.
 */
import { EventEmitter } from 'node:events'
import { join } from 'node:path'

const [data = ''] = process.argv.slice(2)
const parent = Object.assign(new EventEmitter(), {
  postMessage: (message: { type: string }) => void process.stdout.write(`${message.type}\n`),
})
Object.defineProperty(process, 'parentPort', { value: parent })
process.argv[2] = JSON.stringify({ historyFile: join(data, 'history.sqlite') })
await import('#electron/main/host-process.ts')
process.stdin.on('end', () => parent.emit('message', { data: { type: 'close' }, ports: [] }))
process.stdin.resume()
