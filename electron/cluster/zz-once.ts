import { benches } from './collection.bench.ts'
const b = benches[Number(process.argv[2] ?? 0)]!
console.log('warm', await b.run())
console.log('run', await b.run())
console.log('base', await b.baseline())
process.exit(0)
