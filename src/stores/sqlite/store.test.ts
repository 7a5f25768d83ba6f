import { storeContract } from '../contract.case.ts'
import { presentDrivers, sqliteBench } from './bench.case.ts'

for (const driver of await presentDrivers()) storeContract(`sqlite over ${driver}`, () => sqliteBench(driver))
