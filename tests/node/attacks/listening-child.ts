/** Program that listens, to prove that the check for listeners finds one. */
import { createServer } from 'node:net'

createServer().listen(0, '127.0.0.1', () => process.stdout.write('listening\n'))
