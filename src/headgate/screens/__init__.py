"""Everything that is printed of a run, a plan or an explanation: text, a page, reports. Screens decide nothing."""
