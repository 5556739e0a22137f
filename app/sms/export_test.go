package sms

// Sample is a text of a shape and what is to be read from it.
type Sample struct{ Bank, Text, Reads string }

// Samples are those of all shapes.
func Samples() []Sample {
	var samples []Sample
	for _, s := range shapes {
		for _, sample := range s.samples {
			samples = append(samples, Sample{s.bank, sample.text, sample.reads})
		}
	}
	return samples
}

// Shapes counts the shapes that a text fits.
func Shapes(text string) int {
	fits := 0
	for _, r := range readers() {
		if _, ok := r.match(foldText(text)); ok {
			fits++
		}
	}
	return fits
}

func (k Kind) String() string {
	switch k {
	case Balance:
		return "balance"
	case Other:
		return "other"
	}
	return "unreadable"
}
