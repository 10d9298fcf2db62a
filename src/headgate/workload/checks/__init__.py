"""The rules of validation, one subject a module. Each looks at a defaulted document and adds what is wrong with it."""
